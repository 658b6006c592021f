#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the models of table.py, runs the bundles and compares them with
onnxruntime: fp32 and fp16, batch 1 and 3, symbolic shapes. A case that is
ill-conditioned is compared region by region.

usage: run.py [--quick] [--target host|gpu|reference] [--precision P]
              [MODEL[:CASE] ...]

The target reference runs no bundle: it asks the reference evaluator.
"""

import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import harness  # noqa: E402
import references  # noqa: E402
import regions  # noqa: E402
import table  # noqa: E402
from compare import compare  # noqa: E402


class Bench:
    """Where bundles and outputs of one run go, and what they are made by."""

    def __init__(self, options):
        self.tools = harness.Tools(options.build)
        self.jobs = options.jobs
        self.folder = Path(options.build).resolve() / "test-models"
        # On a GPU the default target: the machine's own.
        self.target = ["--target=host"] if options.target == "host" else []
        self.device = "host" if options.target == "host" else "cuda"

        self.evaluates = options.target == "reference"
        if self.evaluates:
            self.target, self.device = [], ""

    def compile(self, model, shapes, precision):
        """(bundle, what dlc said); shapes: one dictionary of texts each."""
        self.folder.mkdir(exist_ok=True)
        bundle = self.folder / f"{model.name}-{precision}.bundle"
        arguments = [f"--shape={name}={text}" for one in shapes
                     for name, text in one.items()]
        return bundle, self.tools.call(
            "dlc", model.file, *self.target, f"--precision={precision}", "-q",
            f"-j={self.jobs}", *arguments, *binds(model), "-o", bundle)

    def run(self, model, bundle, inputs):
        """(folder of the outputs, what the tool said)."""
        place = self.folder / "out"
        shutil.rmtree(place, ignore_errors=True)
        (place / "in").mkdir(parents=True)
        arguments = []
        for name, value in inputs.items():
            file = place / "in" / f"{references.file_name(name)}.npy"
            np.save(file, value)
            arguments.append(f"--input={name}={file}")
        if self.evaluates:
            arguments += [f"--shape={name}={shape_text(value)}"
                          for name, value in inputs.items()]
            return place, self.tools.call("dlc-eval", model.file,
                                          *binds(model), *arguments,
                                          "--save", place)
        return place, self.tools.call("dlc-run", bundle,
                                      f"--device={self.device}", *arguments,
                                      "--save", place)


def binds(model):
    return [f"--bind={name}={value}" for name, value in model.binds.items()]


def agrees(bench, model, bundle, inputs, expected, bound):
    """(within the bound, sentence) for one run of a bundle."""
    place, said = bench.run(model, bundle, inputs)
    if said.how != "done":
        return False, said.sentence
    sentences, good = [], True
    for name, value in expected.items():
        path = harness.output_file(place, name)
        if not path.exists():
            return False, f"no output {name}"
        within, sentence = compare(np.load(path), value, bound)
        good &= within
        sentences.append(sentence)
    return good, "; ".join(sentences) + f"; {said.seconds:.1f} s"


def judge(bench, model, bundle, precision, inputs, expected):
    """(kind of count, sentence) for one case."""
    bound = table.TOLERANCE[precision]
    good, text = agrees(bench, model, bundle, inputs, expected, bound)
    if not good and precision != "fp32" and regions.ill_conditioned(
            model, inputs, expected, bound):
        print(f"    ill-conditioned, inputs that move by one fp16 step move "
              f"it: {text}; region by region:", flush=True)
        good, text = by_region(bench, model, precision, inputs, bound)
    return ("passed" if good else "failed"), text


def by_region(bench, model, precision, inputs, bound):
    count = 0
    for region, given, made in regions.regions(model, inputs, bench.folder):
        bundle, said = bench.compile(
            region, [{name: shape_text(v) for name, v in given.items()}],
            precision)
        region.file.unlink()
        if said.how != "done":
            return False, f"{region.name}: dlc: {said.sentence}"
        good, text = agrees(bench, region, bundle, given, made, bound)
        bundle.unlink()
        print(f"    {region.name}: {text}", flush=True)
        if not good:
            return False, f"{region.name}: {text}"
        count += 1
    return True, f"all {count} regions"


def shape_text(value):
    return "x".join(map(str, value.shape))


def run_jobs(bench, title, model, precision, shapes, cases):
    """Compiles once and runs each of (name, inputs, expected)."""
    if bench.evaluates:
        print(f"{title} {precision}: on the reference evaluator", flush=True)
        return run_cases(bench, model, None, precision, cases)
    start = time.time()
    bundle, said = bench.compile(model, shapes, precision)
    if said.how != "done":
        print(f"{title} {precision}: dlc: {said.how}: {said.sentence}",
              flush=True)
        return Counter(failed=len(cases))
    size = bundle.stat().st_size / 2**20
    print(f"{title} {precision}: compiled in {time.time() - start:.1f} s, "
          f"{size:.1f} MB", flush=True)
    counts = run_cases(bench, model, bundle, precision, cases)
    bundle.unlink()
    return counts


def run_cases(bench, model, bundle, precision, cases):
    counts = Counter()
    for name, inputs, expected in cases:
        kind, sentence = judge(bench, model, bundle, precision, inputs,
                               expected)
        counts[kind] += 1
        print(f"  {name}: {kind}: {sentence}", flush=True)
    return counts


def run_model(bench, model, precision, chosen):
    cases, shapes = [], []
    for case in chosen:
        inputs, expected = references.reference(model, case)
        cases.append((case.name, inputs, expected))
        shape = {name: shape_text(value) for name, value in inputs.items()}
        if shape not in shapes:
            shapes.append(shape)
    return run_jobs(bench, model.name, model, precision, shapes, cases)


def run_symbolic(bench, symbolic, precision, quick):
    model = table.MODELS[symbolic.model]
    cases = []
    for case in symbolic.cases:
        if case.quick or not quick:
            inputs = case.inputs()
            cases.append((case.name, inputs,
                          references.evaluate(model, inputs)))
    if not cases:
        return Counter()
    return run_jobs(bench, f"{model.name}, symbolic", model, precision,
                    [symbolic.shapes], cases)


def main():
    parser = harness.arguments("Compares models with onnxruntime")
    parser.add_argument("--precision", action="append",
                        choices=table.TOLERANCE,
                        help="only this one; may be repeated (default: fp32 "
                             "and fp16)")
    parser.add_argument("models", nargs="*", metavar="MODEL[:CASE]",
                        help="only these; 'symbolic' for the symbolic ones")
    options = parser.parse_args()
    bench = Bench(options)
    for tool in ("dlc-eval",) if bench.evaluates else ("dlc", "dlc-run"):
        if not bench.tools.has(tool):
            sys.exit(f"models: error: no {tool} in {bench.tools.folder}: "
                     "build first (scripts/test.sh)")
    precisions = options.precision or (
        ["fp32"] if bench.evaluates else ["fp32", "fp16"])
    counts = Counter()
    for text in options.models or [*table.MODELS, "symbolic"]:
        name, _, only = text.partition(":")
        if name == "symbolic":
            for symbolic in table.SYMBOLIC:
                for precision in precisions:
                    counts += run_symbolic(bench, symbolic, precision,
                                           options.quick)
            continue
        model = table.MODELS[name]
        chosen = ([model.case(only)] if only else
                  [c for c in model.cases if c.quick or not options.quick])
        for precision in precisions if chosen else ():
            counts += run_model(bench, model, precision, chosen)
    harness.finish("models", counts, options)


if __name__ == "__main__":
    main()
