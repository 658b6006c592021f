# SPDX-License-Identifier: Apache-2.0
"""Inputs of the models: real pictures, speech and files, and seeded noise."""

import functools
import wave
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
SPEECH = ROOT / ".models" / "sounds" / "Front_Center.wav"
PICTURES = ("astronaut.png", "coffee.png", "chelsea.png", "rocket.jpg",
            "motorcycle_left.png")
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)

# The lines of text of page.png: left, top, right, bottom.
LINES = ((2, 48, 380, 68), (2, 66, 380, 85), (2, 82, 380, 101),
         (2, 98, 380, 117), (2, 115, 176, 136))


def noise(shape, seed, scale=1.0):
    random = np.random.Generator(np.random.PCG64(seed))
    return random.standard_normal(shape, dtype=np.float32) * np.float32(scale)


@functools.lru_cache
def picture(name):
    """A picture of the scikit-image package."""
    import skimage
    from PIL import Image
    return Image.open(Path(skimage.__file__).parent / "data" / name)


def scaled(image, height, width, mode="RGB"):
    from PIL import Image
    image = image.convert(mode).resize((width, height), Image.BILINEAR)
    return np.asarray(image, np.float32)


def pictures(first, count, height=224, width=224):
    """Pictures as ImageNet networks take them, [count, 3, height, width]."""
    batch = [scaled(picture(name), height, width)
             for name in PICTURES[first:first + count]]
    batch = (np.stack(batch) / 255 - MEAN) / DEVIATION
    return np.ascontiguousarray(batch.transpose(0, 3, 1, 2), np.float32)


def nhwc_pictures(count):
    """Pictures as the old Caffe networks take them: BGR less its mean."""
    batch = [scaled(picture(PICTURES[i]), 224, 224) for i in range(count)]
    mean = np.array([104, 117, 123], np.float32)
    return np.ascontiguousarray(np.stack(batch)[..., ::-1] - mean)


def page(height, width):
    """A photographed page, [1, 3, height, width] in -1 to 1."""
    image = scaled(picture("page.png"), height, width) / 127.5 - 1
    return np.ascontiguousarray(image.transpose(2, 0, 1)[None])


def parts(count, height, width):
    """Parts of that page, [count, 3, height, width] in -1 to 1."""
    batch = [scaled(picture("page.png").crop((60 * i, 0, 60 * i + 240, 144)),
                    height, width) for i in range(count)]
    batch = np.stack(batch) / 127.5 - 1
    return np.ascontiguousarray(batch.transpose(0, 3, 1, 2))


def lines(count, height, width):
    """Lines cut from that page, again from the first where it has no more,
    [count, 3, height, width] in -1 to 1."""
    batch = [scaled(picture("page.png").crop(LINES[i % len(LINES)]), height,
                    width) for i in range(count)]
    batch = np.stack(batch) / 127.5 - 1
    return np.ascontiguousarray(batch.transpose(0, 3, 1, 2))


def word(height, width):
    """A word in grey, [1, 1, height, width] in -1 to 1."""
    image = picture("page.png").crop((5, 10, 110, 42))
    return scaled(image, height, width, "L")[None, None] / 127.5 - 1


@functools.lru_cache
def speech():
    """A spoken word, 48,000 samples a second, -1 to 1."""
    if not SPEECH.exists():
        raise FileNotFoundError(
            f"no {SPEECH}: run .venv/bin/python scripts/models.py")
    with wave.open(str(SPEECH)) as file:
        frames = file.readframes(file.getnframes())
        channels = file.getnchannels()
    samples = np.frombuffer(frames, np.int16).reshape(-1, channels)
    return samples[:, 0].astype(np.float32) / 32768


def speech_frames():
    """Frames of 512 samples at 16 kHz, each with the 64 before it."""
    samples = speech()[::3]
    count = len(samples) // 512
    padded = np.concatenate([np.zeros(64, np.float32), samples])
    return np.stack([padded[512 * i:512 * i + 576] for i in range(count)])


def speech_sequence(first=0, count=None):
    frames = speech_frames()
    count = len(frames) - first if count is None else count
    zero = np.zeros((1, 1, 128), np.float32)
    return {"input": frames[first:first + count], "h": zero, "c": zero}


def speech_step(count):
    """Frames of speech in the middle of a word, with some earlier state."""
    return {"input": speech_frames()[5:5 + count],
            "state": noise((2, count, 128), 21, 0.3)}


def music(count):
    """Two seconds at 22,050 samples a second, [count, 43844, 1]."""
    at = np.arange(43844) * (48000 / 22050)
    samples = np.interp(at % len(speech()), np.arange(len(speech())), speech())
    batch = [np.roll(samples, 5000 * i) for i in range(count)]
    return {"serving_default_input_2:0":
            np.stack(batch)[..., None].astype(np.float32)}


FILES = ("test/models/table.py", "CMakeLists.txt", "scripts/setup.sh")


def file_bytes(count):
    """Files of this repository: their first and last 1,024 bytes; 256 fills."""
    batch = np.full((count, 2048), 256, np.int32)
    for row, name in zip(batch, FILES):
        data = np.frombuffer((ROOT / name).read_bytes(), np.uint8)
        row[:min(1024, len(data))] = data[:1024]
        row[2048 - min(1024, len(data)):] = data[-1024:]
    return batch


# Acetic acid and ethanol give ethyl acetate and water: atomic numbers, bonds.
REACTION = (
    (2, (6, 6, 8, 8), ((0, 1), (1, 2), (1, 3))),
    (2, (6, 6, 8), ((0, 1), (1, 2))),
    (3, (6, 6, 8, 8, 6, 6), ((0, 1), (1, 2), (1, 3), (3, 4), (4, 5))),
    (3, (8,), ()),
)


def shortest_paths(count, bonds):
    far = np.full((count, count), 99)
    np.fill_diagonal(far, 0)
    for a, b in bonds:
        far[a, b] = far[b, a] = 1
    for k in range(count):
        far = np.minimum(far, far[:, k:k + 1] + far[k:k + 1])
    return far


def reaction(copies=1):
    """An esterification as rxnmap takes it: the first token is the reaction's
    own, an atom is its number plus 2, a distance is cut at 10."""
    molecules = REACTION * copies
    total = 1 + sum(len(atoms) for _, atoms, _ in molecules)
    tokens = {name: np.ones((1, total), np.int64)
              for name in ("atoms", "neighbors", "roles")}
    distances = np.ones((1, total, total), np.int64)
    at = 1
    for role, atoms, bonds in molecules:
        here = slice(at, at + len(atoms))
        paths = shortest_paths(len(atoms), bonds)
        tokens["atoms"][0, here] = np.array(atoms) + 2
        tokens["neighbors"][0, here] = (paths == 1).sum(1) + 2
        tokens["roles"][0, here] = role
        distances[0, here, here] = np.minimum(paths, 10) + 2
        at += len(atoms)
    return {**tokens, "distances": distances}
