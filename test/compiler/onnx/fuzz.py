# SPDX-License-Identifier: Apache-2.0
"""Damaged models: whatever bytes change, dlc-eval ends with a sentence.

usage: fuzz.py DLC-EVAL [ROUNDS [SEED]]
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from onnx_cases import (BOOL, F32, I64, constant, finish, graph, helper, model,
                        node)

numbers = np.random.default_rng(11)


def weights(name, *shape):
    return constant(name, numbers.standard_normal(shape), "f4")


def seeds():
    """Models that between them use most of what the importer reads."""
    image = [("x", F32, ["N", 3, 16, "W"])]
    yield model([
        node("Conv", "x w b", "c", "conv", strides=[2, 2], pads=[1, 1, 1, 1]),
        node("BatchNormalization", "c s s s s", "d", "norm", epsilon=0.25),
        node("Relu", "d", "e", "relu"),
        node("MaxPool", "e", "f", "pool", kernel_shape=[3, 3], strides=[2, 2],
             ceil_mode=1),
        node("LRN", "f", "g", "lrn", size=3), node("Flatten", "g", "h", "flat"),
        node("Softmax", "h", "y", "soft", axis=1)], image,
        constants=[weights("w", 4, 3, 3, 3), weights("b", 4), weights("s", 4)])
    yield model([
        node("Shape", "x", "s", "shape"), node("Gather", "s i", "n", "gather"),
        node("Mul", "n two", "m", "mul"), node("Unsqueeze", "m z", "u", "up"),
        node("Concat", "u rest", "t", "join", axis=0),
        node("Reshape", "x t", "r", "reshape"),
        node("Slice", "r z u z", "v", "slice"),
        node("Split", "v", "p q", "split", axis=1, num_outputs=2),
        node("Pad", "p pads", "o", "pad", mode="reflect"),
        node("Tile", "o tile", "y", "tile")], [("x", F32, ["N", 4, 6])],
        constants=[constant("i", 0, "i8"), constant("two", 2, "i8"),
                   constant("z", [0], "i8"), constant("rest", [-1], "i8"),
                   constant("pads", [0, 1, 0, 1], "i8"),
                   constant("tile", [2, 1], "i8")], opset=18)
    yield model([
        node("Neg", "x", "q", "neg"),
        node("If", "c", "f", "if",
             then_branch=graph([node("Mul", "x k", "t", "mul")], "t"),
             else_branch=graph([node("Sub", "x q", "t", "sub")], "t")),
        node("Loop", "n  f", "y all", "loop", body=graph(
            [node("Add", "v x", "w", "add"), node("Identity", "go", "on", "id")],
            "on w w", [("i", I64, []), ("go", BOOL, []), ("v", F32, [2, 3])],
            "body"))], [("x", F32, [2, 3]), ("c", BOOL, [])], "y all",
        constants=[constant("n", 3, "i8"), constant("k", 2.5, "f4")])
    yield model([
        node("Resize", "x   z", "r", "resize", mode="cubic"),
        node("Transpose", "r", "t", "turn", perm=[0, 2, 3, 1]),
        node("Einsum", "t m", "e", "sum", equation="nhwc,cd->nhd"),
        node("TopK", "e k", "v p", "top", axis=-1),
        node("LayerNormalization", "v g", "l", "norm", axis=-1),
        node("OneHot", "p depth pair", "h", "hot"),
        node("Cast", "h", "i", "cast", to=I64),
        node("ReduceSum", "i axes", "y", "total", keepdims=0)],
        [("x", F32, [1, 3, 4, 5])], "l y",
        constants=[constant("z", [1, 3, 6, 7], "i8"), weights("m", 3, 4),
                   constant("k", [2], "i8"), weights("g", 2),
                   constant("depth", 4, "i8"), constant("pair", [0, 1], "f4"),
                   constant("axes", [-1], "i8")])
    made = model(node("Twice", "x", "y", "call", domain="here"),
                 domains=["here"], functions=[helper.make_function(
                     "here", "Twice", ["a"], ["b"],
                     [node("LSTM", "a w r", "c", "lstm", hidden_size=2),
                      node("ConvTranspose", "c v", "b", "up", strides=[2, 2])],
                     [helper.make_opsetid("", 14)])],
                 inputs=[("x", F32, [3, 1, 4])])
    made.graph.initializer.append(weights("unused", 500))
    yield made


def damage(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(data))
        how = rng.randrange(6)
        if how == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[at] = rng.choice((0, 1, 2, 0x7f, 0x80, 0xff))
        elif how == 2:
            del data[at:at + rng.randrange(1, 9)]
        elif how == 3:
            data[at:at] = bytes(rng.randrange(256)
                                for _ in range(rng.randrange(1, 9)))
        elif how == 4:
            other = rng.randrange(len(data))
            data[at:at + 8] = data[other:other + 8]
        elif len(data) > 2:
            del data[max(1, at):]
        if not data:
            data = bytearray(b"\0")
    return bytes(data)


def run(tool, manifest, cases):
    """The number of the case that ends the tool, or nothing."""
    lines = [f"{path}\t{path}.out\n" for path in cases]
    manifest.write_text("".join(lines))
    try:
        done = subprocess.run([tool, f"--manifest={manifest}"],
                              capture_output=True, timeout=300)
    except subprocess.TimeoutExpired as slow:
        return (slow.stdout or b"").count(b"\n"), "no end"
    answered = done.stdout.count(b"\n")
    if done.returncode in (0, 1) and answered == len(cases):
        return None
    return answered, f"status {done.returncode} {done.stderr[-2000:].decode(errors='replace')}"


def main():
    tool = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 5)
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        cases = []
        for made in seeds():
            good = made.SerializeToString()
            for _ in range(rounds):
                path = Path(folder) / f"{len(cases)}.onnx"
                path.write_bytes(damage(good, rng))
                cases.append(path)
        count = len(cases)
        while cases:
            broken = run(tool, Path(folder) / "manifest", cases)
            if not broken:
                break
            at, why = broken
            keep = Path(tempfile.gettempdir()) / f"dlc-fuzz-{len(failures)}.onnx"
            keep.write_bytes(cases[at].read_bytes())
            failures.append(f"{keep}: {why}")
            cases = cases[at + 1:]
    finish(failures, count)


if __name__ == "__main__":
    main()
