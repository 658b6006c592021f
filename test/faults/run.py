#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forty faults that users of other compilers met, and what docs/ir.md promises
of each operation, as small graphs with the values that they must give. Each case runs on the reference (as typed, in f64,
with its inputs as constants, after all passes, and with its intermediates as
outputs) and as a bundle for the host: with and without the optimising passes,
with its intermediates as outputs, and in fp16 where that is safe.

A case that a tool refuses with a sentence is left out; a wrong value, a crash
or a case of passing.txt that is refused is a failure.
"""

import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import catalog  # noqa: E402
import cliffs  # noqa: E402, F401
import geometry  # noqa: E402, F401
import harness  # noqa: E402
import indexing  # noqa: E402, F401
import number_rules  # noqa: E402, F401
import precision  # noqa: E402, F401
import promises  # noqa: E402, F401
import rewrites  # noqa: E402, F401
import versions  # noqa: E402, F401

PASSING = HERE / "passing.txt"
# Without these, every op is a kernel of its own.
OPTIMISING = ("canonicalize,common-subexpression-elimination,constant-fold,"
              "fold-normalization,fuse-pointwise,fuse-reduction,fuse-vertical,"
              "assign-layouts")


@dataclass
class Result:
    how: str  # passed, wrong, refused, broken, unfit
    sentence: str = ""


def compare(case, folder):
    """What is wrong with the outputs in folder, or nothing."""
    for name, expected in case.outputs.items():
        path = harness.output_file(folder, name)
        if not path.exists():
            return f"no output {name}"
        out, expected = np.load(path), np.asarray(expected)
        if out.shape != expected.shape:
            return f"{name}: shape {out.shape}, expected {expected.shape}"
        if out.dtype.kind in "iub" and expected.dtype.kind in "iub":
            bad = out != expected
        else:
            out, expected = out.astype(np.float64), expected.astype(np.float64)
            bad = ~np.isclose(out, expected, rtol=case.tolerance,
                              atol=case.tolerance, equal_nan=True)
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            return (f"{name}: {int(bad.sum())} of {bad.size} elements, first "
                    f"{out[at]} for {expected[at]} at {list(at)}")
    return ""


class Runner:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder

    def write(self, case, way, made, inputs):
        """Model and inputs in a folder of their own; (folder, arguments)."""
        folder = self.folder / way / re.sub(r"[^A-Za-z0-9.]", "_", case.name)
        (folder / "out").mkdir(parents=True)
        (folder / "model.onnx").write_bytes(made.SerializeToString())
        arguments = []
        for name, value in inputs.items():
            np.save(folder / f"{name}.npy", value)
            arguments += ["--input", f"{name}={folder / name}.npy"]
        return folder, arguments

    def judge(self, case, said, folder):
        if said.how == "broken":
            return Result("broken", said.sentence)
        if case.refusal:
            fits = said.how == "refused" and re.search(case.refusal,
                                                       said.sentence)
            return Result("passed" if fits else "wrong", said.sentence)
        if said.how == "refused":
            return Result("refused", said.sentence)
        wrong = compare(case, folder / "out")
        return Result("wrong", wrong) if wrong else Result("passed")

    def evaluate(self, case, way, made, inputs, *options):
        folder, arguments = self.write(case, way, made, inputs)
        said = self.tools.call("dlc-eval", folder / "model.onnx", *arguments,
                               "--save", folder / "out", *options, timeout=120)
        return self.judge(case, said, folder)

    def reference(self, case):
        if case.wide:
            return Result("unfit")
        return self.evaluate(case, "reference", case.model, case.inputs)

    def double(self, case):
        if case.typed:
            return Result("unfit")
        return self.evaluate(case, "double", case.model, case.inputs,
                             "--precision", "double")

    def folded(self, case):
        if case.wide or case.refusal:
            return Result("unfit")
        return self.evaluate(case, "folded", catalog.folded(case), {},
                             "--pipeline=simplify")

    def optimised(self, case):
        return self.evaluate(case, "optimised", case.model, case.inputs,
                             "--pipeline=default")

    def exposed(self, case):
        made = None if case.wide or case.refusal else catalog.exposed(case)
        if made is None:
            return Result("unfit")
        return self.evaluate(case, "exposed", made, case.inputs)

    def bundle(self, case, way, target, device, *options, made=None):
        folder, arguments = self.write(case, way, made or case.model,
                                       case.inputs)
        bundle = folder / "model.bundle"
        said = self.tools.call("dlc", folder / "model.onnx", "-q", "-o", bundle,
                               f"--target={target}", *case.options, *options,
                               timeout=300)
        if said.how == "done":
            said = self.tools.call("dlc-run", bundle, f"--device={device}",
                                   *arguments, "--save", folder / "out",
                                   timeout=300)
        return self.judge(case, said, folder)

    def host(self, case):
        return self.bundle(case, "host", "host", "host")

    def watched(self, case):
        """On the host, with every intermediate as an output."""
        made = None if case.wide or case.refusal else catalog.exposed(case)
        if made is None:
            return Result("unfit")
        return self.bundle(case, "watched", "host", "host", made=made)

    def half(self, case):
        """What may be lowered is: within the bound of a model in fp16."""
        floats = all(np.asarray(v).dtype.kind == "f"
                     for v in case.outputs.values())
        # A value on a quantisation step may take the next one.
        steps = any(n.op_type == "QuantizeLinear"
                    for n in case.model.graph.node)
        if not case.tolerance or not floats or case.options or steps:
            return Result("unfit")
        lowered = replace(case, tolerance=max(case.tolerance, 1e-2))
        return self.bundle(lowered, "half", "host", "host",
                           "--precision=fp16")

    def plain(self, case):
        if case.wide:
            return Result("unfit")
        return self.bundle(case, "plain", "host", "host",
                           f"--disable-pass={OPTIMISING}")

    def gpu(self, case):
        return self.bundle(case, "gpu", "portable", "cuda")


def listed(path):
    """{(way, case)} of a file with lines "way case"."""
    lines = path.read_text().splitlines() if path.exists() else ()
    return {tuple(line.split()) for line in lines
            if line and not line.startswith("#")}


def choose_ways(options):
    if options.target == "gpu":
        ways = ["gpu"]
    else:
        ways = ["reference", "folded", "optimised"]
        if not options.quick:
            ways += ["double", "exposed", "host", "plain", "watched", "half"]
    return [w for w in ways if not options.way or w in options.way]


def main():
    parser = harness.arguments("Runs forty faults of other compilers")
    parser.add_argument("--way", action="append", metavar="NAME",
                        help="only this one; may be repeated")
    parser.add_argument("--filter", default="", metavar="REGEX",
                        help="only cases whose name fits")
    parser.add_argument("--keep", type=Path, metavar="DIR",
                        help="leave models, inputs and outputs here")
    parser.add_argument("--write", action="store_true",
                        help="keep what passes in passing.txt")
    options = parser.parse_args()
    tools = harness.Tools(options.build)
    chosen = [c for c in catalog.cases() if re.search(options.filter, c.name)]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(tools, options.keep or Path(folder))
        for way in choose_ways(options):
            for case, result in harness.spread(
                    getattr(runner, way), chosen, options.jobs,
                    f"faults, {way}"):
                results.append((way, case.name, result))
    passing = listed(PASSING)
    counts, table = Counter(), {}
    for way, name, result in results:
        table.setdefault(way, Counter())[result.how] += 1
        if result.how == "unfit":
            continue
        expected = (way, name) in passing
        failed = result.how in ("wrong", "broken") or (
            result.how == "refused" and expected)
        kind = ("passed" if result.how == "passed" else
                "failed" if failed else "skipped")
        counts[kind] += 1
        if kind != "passed":
            print(f"{way} {name}: {result.how}: {result.sentence}")
    for way, how in table.items():
        print(f"{way:12}" + ", ".join(f"{n} {h}" for h, n in
                                      sorted(how.items())))
    if options.write:
        ran = {(way, name) for way, name, _ in results}
        kept = passing - ran | {(way, name) for way, name, result in results
                                if result.how == "passed"}
        PASSING.write_text(
            "# Cases that have to pass; written by test/faults/run.py --write\n"
            + "".join(f"{way} {name}\n" for way, name in sorted(kept)))
    harness.finish("faults", counts, options)


if __name__ == "__main__":
    main()
