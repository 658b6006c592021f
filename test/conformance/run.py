#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs ONNX's own backend tests through the tools: the reference evaluator
(dlc-eval), and a bundle that dlc makes and dlc-run runs. Prints a table by
operator; --write keeps what passes (passing.txt) and docs/operators.md.

A case fails when a value is wrong, a tool crashes, or a case of passing.txt is
refused. A refusal of any other case, with a sentence, leaves the case out.
"""

import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "models"))
import cases  # noqa: E402
import compare as bounds  # noqa: E402
import harness  # noqa: E402
import operators_page  # noqa: E402
import resident  # noqa: E402

PASSING = HERE / "passing.txt"
REFUSED = HERE / "refused.txt"


# What ONNX's data say and dlc decided otherwise, with the reason.
DECIDED = (
    (r"test_cast(like)?_FLOAT(16)?_to_U?INT4(_expanded)?$",
     "a float that is out of range saturates; ONNX leaves it open"),
)
# ONNX's tolerance is that of fp32; of the narrower types that of semantics.
BOUNDS = {"float16": 1.5e-3, "bfloat16": 1e-2}


@dataclass
class Result:
    how: str  # passed, wrong, refused, broken, unfit, decided
    sentence: str = ""
    bound: tuple = ()  # inputs that had to be constants


def expected_of(case):
    import onnx
    from onnx import numpy_helper
    return [(name, numpy_helper.to_array(
        onnx.load_tensor(file))) for name, file in case.outputs]


def compare(case, folder):
    """What is wrong with the outputs in folder, or nothing."""
    for name, expected in expected_of(case):
        path = harness.output_file(folder, name)
        if not path.exists():
            return f"no output {name}"
        out = harness.load_npy(path, expected.dtype)
        if out.dtype != expected.dtype:
            return f"{name}: type {out.dtype}, expected {expected.dtype}"
        if out.shape != expected.shape:
            return f"{name}: shape {out.shape}, expected {expected.shape}"
        if str(out.dtype) in BOUNDS:
            within, sentence = bounds.compare(
                out.astype(np.float32), expected.astype(np.float32),
                BOUNDS[str(out.dtype)])
            if not within:
                return f"{name}: {sentence}"
            continue
        # The narrow float types have no isclose of their own.
        if out.dtype.kind not in "iub":
            wide = np.complex128 if out.dtype.kind == "c" else np.float64
            out, expected = out.astype(wide), expected.astype(wide)
            # Where ONNX's value is zero, its own rounding is left: it grows
            # with the values that cancelled.
            finite = expected[np.isfinite(expected)]
            noise = 1e-6 * np.sqrt((abs(finite) ** 2).mean()
                                   if finite.size else 0)
            bad = ~np.isclose(out, expected, rtol=case.rtol,
                              atol=max(case.atol, noise), equal_nan=True)
        else:
            bad = out != expected
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            return (f"{name}: {int(bad.sum())} of {bad.size} elements, first "
                    f"{out[at]} for {expected[at]} at {list(at)}")
    return ""


def feeds(case, bound):
    return [f"--input={name}={file}" for name, file in case.inputs
            if name not in bound]


def settings(case, bound):
    """Shapes that the model leaves open, and inputs that become constants."""
    import onnx
    from onnx import numpy_helper
    texts = [f"--shape={text}" for text in case.shapes]
    for name, file in case.inputs:
        if name in bound:
            value = numpy_helper.to_array(onnx.load_tensor(file))
            texts.append(f"--bind={name}="
                         + ",".join(str(int(v) if isinstance(v, bool) else v)
                                    for v in value.ravel().tolist()))
    return texts


def by_reference(tools, case, folder, bound):
    return tools.call("dlc-eval", case.folder / "model.onnx",
                      *settings(case, bound), *feeds(case, bound),
                      "--save", folder, timeout=120)


def by_bundle(target, device, pool=None):
    """With dlc-run, or in the processes of a pool."""
    def run(tools, case, folder, bound):
        bundle = Path(folder) / "model.bundle"
        said = tools.call("dlc", case.folder / "model.onnx",
                          f"--target={target}", "-q", *settings(case, bound),
                          "-o", bundle, timeout=120)
        if said.how != "done":
            return said
        if pool:
            return pool.run(dict(
                bundle=str(bundle), device=device, folder=str(folder),
                inputs=[pair for pair in case.inputs if pair[0] not in bound]))
        return tools.call("dlc-run", bundle, f"--device={device}",
                          *feeds(case, bound), "--save", folder, timeout=120)
    return run


def run_case(tools, way, case):
    """Inputs that have to be known at compile time become constants: ONNX's
    tests give axes, shapes and the like as inputs."""
    if case.unfit:
        return Result("unfit", case.unfit)
    bound = ()
    with tempfile.TemporaryDirectory() as folder:
        while True:
            said = way(tools, case, folder, bound)
            missing = set(re.findall(r'input "([^"]*)", which are only known '
                                     "at run time", said.text))
            missing &= {name for name, _ in case.inputs}
            if said.how != "refused" or not missing - set(bound):
                break
            bound = tuple(sorted(missing | set(bound)))
        if said.how != "done":
            return Result(said.how, said.sentence, bound)
        try:
            wrong = compare(case, folder)
        except ValueError as error:
            wrong = f"unreadable output: {error}"
    for pattern, reason in DECIDED if wrong else ():
        if re.match(pattern, case.name):
            return Result("decided", reason, bound)
    return Result("wrong" if wrong else "passed", wrong, bound)


def listed(path):
    """{way: {case: sentence}} of a file with lines "way case [sentence]"."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        if line and not line.startswith("#"):
            way, case, *sentence = line.split(" ", 2)
            found.setdefault(way, {})[case] = "".join(sentence)
    return found


def write_list(path, title, found):
    lines = [f"# {title}; written by test/conformance/run.py --write"]
    for way in sorted(found):
        for case, sentence in sorted(found[way].items()):
            lines.append(f"{way} {case} {sentence}".rstrip())
    path.write_text("\n".join(lines) + "\n")


def judge(way, case, result, passing):
    """The kind of count for one result."""
    if result.how == "passed":
        return "passed"
    if result.how in ("wrong", "broken"):
        return "failed"
    # A GPU runs what the host does.
    known = passing.get("host" if way == "gpu" else way, {})
    return "failed" if case.name in known else "skipped"


def quick_subset(found):
    """One case of each operator, the first by name."""
    seen, chosen = set(), []
    for case in found:
        key = tuple(case.operators)
        if not case.unfit and key not in seen and len(key) == 1:
            seen.add(key)
            chosen.append(case)
    return chosen


def operator_table(results):
    """Lines: operator, then per way how many cases passed, of how many."""
    rows = {}
    for way, case, result in results:
        operator = case.operators[0] if len(case.operators) == 1 else (
            "(several)")
        counts = rows.setdefault(operator, {}).setdefault(way, Counter())
        counts[result.how] += 1
    ways = sorted({way for way, _, _ in results})
    yield f"{'operator':28}" + "".join(f"{way:>24}" for way in ways)
    for operator in sorted(rows):
        line = f"{operator:28}"
        for way in ways:
            c = rows[operator].get(way, Counter())
            bad = c["wrong"] + c["broken"]
            line += f"{c['passed']:>10} of {c.total():3}" + (
                f" {bad:3} bad" if bad else " " * 8)
        if any(c["passed"] + c["wrong"] + c["broken"]
               for c in rows[operator].values()):
            yield line


def choose_ways(options, tools, pool):
    ways = {}
    if options.target == "gpu":
        ways["gpu"] = by_bundle("auto", "cuda",
                                pool if pool.usable() else None)
    else:
        if tools.has("dlc-eval"):
            ways["reference"] = by_reference
        if tools.has("dlc") and tools.has("dlc-run"):
            ways["host"] = by_bundle("host", "host")
    if options.way:
        ways = {name: ways[name] for name in options.way if name in ways}
    if not ways:
        sys.exit(f"conformance: error: no dlc-eval, dlc and dlc-run in "
                 f"{tools.folder}: build first (scripts/test.sh)")
    return ways


def main():
    parser = harness.arguments("Runs ONNX's backend tests")
    parser.add_argument("--way", action="append",
                        choices=("reference", "host", "gpu"),
                        help="only this one; may be repeated")
    parser.add_argument("--filter", default="", metavar="REGEX",
                        help="only cases whose name fits")
    parser.add_argument("--write", action="store_true",
                        help="keep what passes, and write docs/operators.md; "
                        "with --filter only of the cases that fit")
    parser.add_argument("-v", "--verbose", action="store_true",
                        help="also print each refusal")
    options = parser.parse_args()
    tools = harness.Tools(options.build)
    found = cases.load()
    pool = resident.Pool(options.build)
    ways = choose_ways(options, tools, pool)
    chosen = [c for c in found if re.search(options.filter, c.name)]
    results = []
    for name, way in ways.items():
        some = quick_subset(chosen) if (options.quick and
                                        name != "reference") else chosen
        for case, result in harness.spread(
                lambda case: run_case(tools, way, case), some,  # noqa: B023
                options.jobs, f"conformance, {name}"):
            results.append((name, case, result))
    pool.close()
    passing = listed(PASSING)
    counts = Counter()
    for way, case, result in results:
        kind = judge(way, case, result, passing)
        counts[kind] += 1
        if kind == "failed" or (options.verbose and result.how == "refused"):
            print(f"{way} {case.name}: {result.how}: {result.sentence}")
    print("\n".join(operator_table(results)))
    if options.write:
        refused = listed(REFUSED)
        for way in ways:
            ours = [(c, r) for w, c, r in results if w == way]
            ran = {c.name for c, _ in ours}
            # Cases that were filtered out stay as they are.
            fit = {c.name for c in chosen}
            kept = {c.name for c in found if c.name not in fit} - ran
            for known, how, text in (
                    (passing, "passed", lambda r: " ".join(r.bound)),
                    (refused, "refused", lambda r: r.sentence)):
                known[way] = {name: said for name, said in
                              known.get(way, {}).items() if name in kept}
                known[way].update((c.name, text(r)) for c, r in ours
                                  if r.how == how)
        write_list(REFUSED, "ONNX's tests that are refused, and why", refused)
        write_list(PASSING, "ONNX's tests that have to pass", passing)
        operators_page.write(found, passing, listed(REFUSED))
    harness.finish("conformance", counts, options)


if __name__ == "__main__":
    main()
