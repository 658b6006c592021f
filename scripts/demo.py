#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a photographed page with the pipeline of the package
rapidocr-onnxruntime (find lines, turn them, read them), once on its own
onnxruntime sessions and once with dlc's in their place; and asks Magika of
which type some files are, in the same two ways. Called by scripts/demo.sh."""

import argparse
import ctypes
import difflib
import json
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "models"))
import inputs  # noqa: E402
import references  # noqa: E402
import table  # noqa: E402

# The sizes that each network is compiled for: input to shape. The page has one
# size; lines come up to eight at a time, in any width.
SHAPES = {
    "ocr_det": {"x": "1x3x736x1472"},
    "ocr_cls": {"x": "1..8x3x48x192"},
    "ocr_rec": {"x": "1..8x3x48x320..2048"},
    "magika": {"bytes": "1x2048"},
}


def say(text=""):
    print(text, flush=True)


class Timed:
    """A session in the place of the pipeline's own: called with one array, it
    returns a list of arrays; keeps how long each call took."""

    def __init__(self, run):
        self.run = run
        self.seconds = []

    def __call__(self, array):
        start = time.perf_counter()
        outputs = self.run(array)
        self.seconds.append(time.perf_counter() - start)
        return outputs

    def best(self):
        return f"{min(self.seconds) * 1000:.1f} ms"


class Pipeline:
    """Find, turn and read, as the package does it."""

    def __init__(self):
        sys.path.insert(0, str(table.PACKAGES))
        from rapidocr_onnxruntime import RapidOCR
        self.pipeline = RapidOCR()
        self.places = {"find": (self.pipeline.text_det, "infer"),
                       "turn": (self.pipeline.text_cls, "infer"),
                       "read": (self.pipeline.text_rec, "session")}
        self.timed = {}

    def own_sessions(self):
        """Its onnxruntime sessions, timed."""
        self.use({name: getattr(*place) for name, place in self.places.items()})

    def use(self, sessions):
        self.timed = {name: Timed(run) for name, run in sessions.items()}
        for name, place in self.places.items():
            setattr(*place, self.timed[name])

    def read(self, picture, times):
        """[(text, score)] of the lines, and seconds of the fastest run."""
        fastest = float("inf")
        for _ in range(times):
            start = time.perf_counter()
            lines, _ = self.pipeline(str(picture))
            fastest = min(fastest, time.perf_counter() - start)
        return [(text, score) for _, text, score in lines or ()], fastest


def compile_all(options):
    """{model: session of dlc}; says what it compiles."""
    import dlc
    sessions = {}
    target = "host" if options.device == "host" else None
    folder = Path(options.build) / "demo"
    folder.mkdir(exist_ok=True)
    for name, shapes in SHAPES.items():
        print(f"  {name:8} ", end="", flush=True)
        start = time.perf_counter()
        bundle = dlc.compile(
            table.MODELS[name].file, folder / f"{name}.bundle", targets=target,
            precision=options.precision, shapes=shapes)
        size = (folder / f"{name}.bundle").stat().st_size / 2**20
        sessions[name] = bundle.session(options.device, compile_missing=True)
        say(f"{size:6.1f} MB in "
            f"{time.perf_counter() - start:5.1f} s   "
            f"{table.MODELS[name].title}")
    return sessions


def as_call(session):
    """A session of dlc as the pipeline calls its own."""
    name = session.inputs[0].name
    return lambda array: list(session.run({name: array}).values())


def print_lines(title, lines, seconds, timed):
    parts = ", ".join(f"{name} {t.best()}" for name, t in timed.items())
    say(f"{title}: {seconds * 1000:.0f} ms for the page ({parts})")
    for text, score in lines:
        say(f"  {score:.3f}  {text}")


def same_share(ours, theirs):
    """Share of equal characters, in the order of the text."""
    ours, theirs = "\n".join(ours), "\n".join(theirs)
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    equal = sum(block.size for block in matcher.get_matching_blocks())
    return equal / max(len(ours), len(theirs), 1)


def read_page(sessions, where, times):
    import skimage
    picture = Path(skimage.__file__).parent / "data" / "page.png"
    import onnxruntime
    pipeline = Pipeline()
    pipeline.own_sessions()
    theirs, seconds = pipeline.read(picture, times)
    say()
    print_lines(f"page.png, onnxruntime {onnxruntime.__version__} on the CPU",
                theirs, seconds, pipeline.timed)
    pipeline.use({"find": as_call(sessions["ocr_det"]),
                  "turn": as_call(sessions["ocr_cls"]),
                  "read": as_call(sessions["ocr_rec"])})
    ours, seconds = pipeline.read(picture, times)
    say()
    print_lines(f"page.png, dlc on {where}", ours, seconds, pipeline.timed)
    share = same_share([t for t, _ in ours], [t for t, _ in theirs])
    say(f"equal characters: {share:.1%}")
    return share


def name_files(session):
    """Whether both name the same type for each of three files."""
    labels = json.loads(
        (table.FOLDER / "magika.json").read_text())["target_labels_space"]
    files = inputs.file_bytes(3)
    say()
    good = True
    for row, name in zip(files, inputs.FILES):
        feed = {"bytes": row[None]}
        ours = session.run(feed)["target_label"][0]
        theirs = references.evaluate(table.MODELS["magika"],
                                     feed)["target_label"][0]
        one, other = int(np.argmax(ours)), int(np.argmax(theirs))
        good &= one == other
        say(f"{name}: {labels[one]} ({ours[one]:.3f}), onnxruntime: "
            f"{labels[other]} ({theirs[other]:.3f})")
    return good


def has_gpu():
    """Whether the driver is here and knows a GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return (driver.cuInit(0) == 0 and
            driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and
            count.value > 0)


def main():
    parser = argparse.ArgumentParser(description="dlc at work on a real page")
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    parser.add_argument("--device", default="auto",
                        choices=("auto", "cuda", "host"))
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--times", default=3, type=int,
                        help="runs of the pipeline; the fastest is shown")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build.resolve() / "python"))
    import dlc
    if options.device == "auto" and not has_gpu():
        say("no GPU here: the kernels run on the CPU, by the host target, which "
            "is for trying\nand testing; onnxruntime, made for CPUs, is faster")
        options.device = "host"
    say(f"compiling with dlc {dlc.__version__}, {options.precision}")
    sessions = compile_all(options)
    where = sessions["ocr_det"].device_name
    share = read_page(sessions, where, options.times)
    good = name_files(sessions["magika"])
    if share < 0.98 or not good:
        sys.exit("demo: error: dlc and onnxruntime disagree, see above")
    say()
    say(f"the tools are in {options.build}/bin, the bundles in "
        f"{options.build}/demo")


if __name__ == "__main__":
    main()
