#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of meaning in this folder as bundles: each module is compiled for
the host (or the GPU), run on the inputs in its comments and compared with the
expected values there. A module that codegen refuses with a sentence is left
out."""

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
import harness  # noqa: E402

# An f32 kernel may be a few steps off where the reference computes in f64.
LEAST = {np.dtype(np.float16): 1.5e-3, np.dtype(np.float32): 1e-5,
         np.dtype(np.float64): 1e-12}


def differs(path, expected, tolerance):
    out = np.load(path)
    if out.shape != expected.shape:
        return f"shape {out.shape}, expected {expected.shape}"
    if out.dtype != expected.dtype:
        return f"type {out.dtype}, expected {expected.dtype}"
    if out.dtype.kind in "iubV":
        bad = out != expected
    else:
        bound = max(tolerance, LEAST[out.dtype])
        bad = ~np.isclose(out, expected, rtol=bound, atol=bound,
                          equal_nan=True)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        return (f"{int(bad.sum())} of {bad.size} elements, first {out[at]} for "
                f"{expected[at]} at {list(at)}")
    return ""


def run(tools, target, device, test):
    """(kind of count, what to say)."""
    found = re.search(r"^// tolerance (\S+)", test.read_text(), re.M)
    tolerance = float(found.group(1)) if found else 0.0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        said = tools.call("dlc-eval", test, "--extract", folder)
        if said.how != "done":
            return "failed", said.sentence
        said = tools.call("dlc", test, f"--target={target}", "-q", "-o",
                          folder / "b.bundle")
        if said.how != "done":
            kind = "skipped" if said.how == "refused" else "failed"
            return kind, f"compiling: {said.how}: {said.sentence}"
        inputs = [f"--input={f.stem}={f}" for f in (folder / "in").glob("*")]
        said = tools.call("dlc-run", folder / "b.bundle", f"--device={device}",
                          *inputs, "--save", folder / "out")
        if said.how != "done":
            return "failed", f"running: {said.how}: {said.sentence}"
        wrong = []
        for file in sorted((folder / "expected").glob("*.npy")):
            what = differs(folder / "out" / file.name, np.load(file),
                           tolerance)
            wrong += [f"{file.stem}: {what}"] if what else []
        return ("failed", "; ".join(wrong)) if wrong else ("passed", "")


def main():
    parser = harness.arguments("Runs the tests of meaning as bundles")
    parser.add_argument("--filter", default="", metavar="REGEX")
    options = parser.parse_args()
    tools = harness.Tools(options.build)
    target, device = (("portable", "cuda") if options.target == "gpu" else
                      ("host", "host"))
    tests = [f for f in sorted(HERE.glob("*.dlc"))
             if re.search(options.filter, f.stem)]
    counts = Counter()
    for test, (kind, text) in harness.spread(
            lambda test: run(tools, target, device, test), tests, options.jobs,
            "meaning"):
        counts[kind] += 1
        if kind != "passed":
            print(f"{test.stem}: {kind}: {text}")
    harness.finish("meaning", counts, options)


if __name__ == "__main__":
    main()
