# SPDX-License-Identifier: Apache-2.0
"""Models whose sizes are known only when they run: each is compiled once for
the host, and run with several sizes, of which some have to be refused.

usage: sizes.py FOLDER-OF-DLC [CASE...]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from onnx_cases import (BOOL, F32, I64, constant, finish, graph, helper,
                        model, node)

CASES = []


class Case:
    """`runs` are (inputs by name, an array for each output or words of the
    refusal); `note`: words of a note while compiling."""
    def __init__(self, name, made, runs, options=(), note=""):
        self.name, self.made, self.runs = name, made, runs
        self.options, self.note = options, note
        CASES.append(self)


def random(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def ints(*values):
    return np.array(values, np.int64)


# Slices -------------------------------------------------------------------------
def sliced(start, end, step):
    return model(node("Slice", "x s e a t"), [("x", F32, ["N", 4])], constants=[
        constant(name, [value], "i8") for name, value in
        zip("seat", (start, end, 0, step))])


for start, end, step, python in (
        (-1, -2**63, -1, slice(None, None, -1)),
        (5, 0, -2, slice(5, 0, -2)), (2, 1000, 2, slice(2, None, 2)),
        (-3, -1, 1, slice(-3, -1)), (2**63 - 1, -2**63, -3,
                                     slice(None, None, -3))):
    CASE_RUNS = []
    for size in (0, 1, 3, 8):
        x = random(size, 4)
        CASE_RUNS.append(({"x": x}, [x[python]]))
    Case(f"slice {start}:{end}:{step}", sliced(start, end, step), CASE_RUNS,
         ["--shape=x=0..8x4"])

DEVICE = model(node("Slice", "x s e a t"), [
    ("x", F32, ["N", "K"]), ("s", I64, [2]), ("e", I64, [2])], constants=[
        constant("a", [1, 0], "i8"), constant("t", [2, -1], "i8")])
Case("slice from and to values", DEVICE, [
    ({"x": random(size, 5), "s": ints(*s), "e": ints(*e)},
     [random(size, 5)[s[1]:(None if e[1] == -2**63 else e[1]):-1,
                      s[0]:e[0]:2]])
    for size in (1, 6) for s, e in (
        ((0, 4), (5, 1)), ((-4, 9), (99, -2**63)), ((3, -1), (2, -4)))])
for mode in ("reflect", "edge"):
    x = random(5, 6)
    Case(f"{mode} of what is not cut off", model(
        node("Pad", "x p", mode=mode), [("x", F32, ["N", 6])],
        constants=[constant("p", [2, -1, 1, 2], "i8")]), [
            ({"x": x}, [np.pad(x[:, 1:], ((2, 1), (0, 2)), mode)])])


Case("a size that only a kernel counts", model(
    [node("NonZero", "x", "n"), node("Shape", "n")],
    [("x", F32, ["N", 3])]), [
    ({"x": x}, [ints(2, np.count_nonzero(x))])
    for x in (random(1, 3), np.maximum(random(9, 3), 0), 0 * random(4, 3))])
Case("two values under one mask", model(
    [node("Greater", "x half", "m"), node("NonZero", "m", "n"),
     node("Transpose", "n", "nt"), node("GatherND", "x nt", "a"),
     node("NonZero", "m", "k"), node("Transpose", "k", "kt"),
     node("GatherND", "z kt", "b"), node("Sub", "a b", "d"),
     node("Shape", "a", "s"), node("Min", "s two", "l"),
     node("TopK", "d l", "t t_at")],
    [("x", F32, ["N", 3]), ("z", F32, ["N", 3])], "t t_at",
    constants=[constant("half", 0.5, "f4"), constant("two", [2], "i8")]), [
    ({"x": x, "z": random(len(x), 3)[::-1]},
     [np.sort((x - random(len(x), 3)[::-1])[x > 0.5])[::-1][:2],
      np.argsort(-(x - random(len(x), 3)[::-1])[x > 0.5])[:2]])
    for x in (random(1, 3), random(9, 3), 0 * random(4, 3))])
Case("values of sizes beyond any index", model(
    [node("Size", "x", "size"), node("Mul", "size big", "many"),
     node("Min", "many most", "less"), node("Add", "v many", "sum"),
     node("Sub", "sum less")],
    [("x", F32, ["N", "K"]), ("v", I64, [3])], constants=[
        constant("big", 2**40, "i8"), constant("most", 5 * 2**40, "i8")]), [
    ({"x": random(size, 3), "v": ints(1, -2, 3)},
     [ints(1, -2, 3) + max(0, 3 * size - 5) * 2**40]) for size in (1, 2, 9)])


def unique(x):
    y, index, inverse, counts = np.unique(x, True, True, True)
    return [y, index, inverse, counts]


def unique_in_place(x):
    y, index, inverse, counts = unique(x)
    order = np.argsort(index)
    return [y[order], index[order], np.argsort(order)[inverse], counts[order]]


for label, more, expected in (("sorted", {}, unique),
                              ("unsorted", {"sorted": 0}, unique_in_place)):
    Case(f"unique, {label}", model(
        node("Unique", "x", "y i v c", **more), [("x", F32, ["N"])], "y i v c"),
        [({"x": x}, expected(x)) for x in (
            random(1), np.round(random(50)), np.round(3 * random(700)))])

# Sizes that may be 1 --------------------------------------------------------------
one, three, other = random(1, 4), random(3, 4), random(3, 4, seed=2)
expand = [node("Shape", "z", "s"), node("Expand", "x s")]
Case("expand a symbol to a symbol",
     model(expand, [("x", F32, ["N", 4]), ("z", F32, ["M", 4])]), [
         ({"x": three, "z": three}, [three]),
         ({"x": one, "z": three}, [np.repeat(one, 3, 0)]),
         ({"x": three, "z": one}, [three]),
         ({"x": random(2, 4), "z": three}, "expected a size of 1 or \"M\" in dimension 0: got 2 and 3")])
Case("expand a symbol that may be 0 to a symbol",
     model(expand, [("x", F32, ["N", 4]), ("z", F32, ["M", 4])]), [
         ({"x": three[:0], "z": three[:0]}, [three[:0]]),
         ({"x": one, "z": three[:0]}, [three[:0]]),
         ({"x": three[:0], "z": one}, [three[:0]]),
         ({"x": one, "z": three}, [np.repeat(one, 3, 0)]),
         ({"x": three[:0], "z": three}, "expected a size of 1 or \"M\" in dimension 0: got 0 and 3")],
     ["--shape=x=0..8x4", "--shape=z=0..8x4"])
Case("expand a symbol to a number",
     model(node("Expand", "x s"), [("x", F32, ["N", 4])],
           constants=[constant("s", [3, 4], "i8")]), [
         ({"x": three}, [three]), ({"x": one}, [np.repeat(one, 3, 0)]),
         ({"x": random(2, 4)}, "a size of 1 or 3 in dimension 0: got 2 and 3, where N is 2")])
Case("expand a number to a symbol",
     model(expand, [("x", F32, [3, 4]), ("z", F32, ["M", 4])]), [
         ({"x": three, "z": other}, [three]), ({"x": three, "z": one}, [three]),
         ({"x": three, "z": random(2, 4)}, "a size of 1 or 3 in dimension 0: got 2 and 3, where M is 2")])
Case("a symbol meets a number",
     model(node("Sub", "x z"), [("x", F32, ["N", "K"]), ("z", F32, [3, 4])]), [
         ({"x": three, "z": other}, [three - other]),
         ({"x": one, "z": other}, [one - other]),
         ({"x": three[:, :1], "z": other}, [three[:, :1] - other]),
         ({"x": random(2, 4), "z": other}, "a size of 1 or 3 in dimension 0: got 2 and 3, where N is 2")])
Case("a symbol meets a number in a selection",
     model(node("Where", "c x z"), [("c", BOOL, ["N", 1]), ("x", F32, ["K"]),
                                    ("z", F32, [3, 4])]), [
         ({"c": three[:, :1] > 0, "x": one[0], "z": other},
          [np.where(three[:, :1] > 0, one[0], other)]),
         ({"c": one[:, :1] > 0, "x": one[0, :1], "z": other},
          [np.where(one[:, :1] > 0, one[0, :1], other)])])
Case("two symbols meet",
     model(node("Add", "x z"), [("x", F32, ["N", 4]), ("z", F32, ["M", 4])]), [
         ({"x": three, "z": other}, [three + other]),
         ({"x": one, "z": other}, "(one that repeats has to be 1 at compile "
          "time: --shape)")])


# Branches ---------------------------------------------------------------------------
def branches(then, other, x=("N", 4), after=(), outputs="y"):
    """An If whose branches give t and e."""
    return model([node("If", "c", outputs.split()[0] if not after else "r",
                       then_branch=graph(then, "t"),
                       else_branch=graph(other, "e")), *after],
                 [("c", BOOL, []), ("x", F32, list(x))], outputs,
                 constants=[constant("a", [0], "i8"), constant("s", [0], "i8"),
                            constant("two", [2], "i8")])


yes, no = np.array(True), np.array(False)
relu, first_two = node("Relu", "x", "t"), node("Slice", "x s two a", "e")
Case("branches of other sizes", branches([relu], [first_two]), [
    ({"c": c, "x": random(size, 4)},
     [np.maximum(random(size, 4), 0) if c else random(size, 4)[:2]])
    for c in (yes, no) for size in (1, 2, 5)])
Case("branches of other sizes, used", branches(
    [relu], [first_two], after=[node("Mul", "r r")]), [
    ({"c": c, "x": random(size, 4)},
     [np.maximum(random(size, 4), 0)**2 if c else random(size, 4)[:2]**2])
    for c in (yes, no) for size in (1, 5)])
turned = node("Transpose", "x", "t")
Case("branches of other numbers", branches(
    [turned], [node("Identity", "x", "e")], (3, 4)), [
    ({"c": yes, "x": three}, [three.T]), ({"c": no, "x": three}, [three])])
found = [node("NonZero", "x", "n"), node("Cast", "n", "t", to=F32)]
sparse = np.maximum(random(2, 4), 0)
Case("a branch that counts", branches(found, [first_two], (2, 4)), [
    ({"c": yes, "x": sparse}, [np.array(np.nonzero(sparse), "f4")]),
    ({"c": yes, "x": sparse * 0}, [np.zeros((2, 0), "f4")]),
    ({"c": no, "x": sparse}, [sparse])])

squeeze = [node("Shape", "x", "shape"), node("Gather", "shape k", "size"),
           node("Equal", "size one", "c"), node(
               "If", "c", then_branch=graph([node("Squeeze", "x axes", "t")],
                                            "t"),
               else_branch=graph([node("Identity", "x", "e")], "e"))]
GUARD = model(squeeze, [("x", F32, ["N", "K"])], constants=[
    constant("k", 1, "i8"), constant("one", 1, "i8"),
    constant("axes", [1], "i8")])
Case("a squeeze of what may be 1", GUARD, [
    ({"x": three[:, :1]}, [three[:, 0]]), ({"x": one[:, :1]}, [one[:, 0]]),
    ({"x": three}, '"K" == 1: got 4 and 1')],
     note='"K" == 1 is taken for granted')
Case("a squeeze of what is not 1", GUARD, [({"x": three}, [three])],
     ["--shape=x=Nx4"])


# Loops ------------------------------------------------------------------------------
BODY = helper.make_graph(
    [node("Add", "a x", "next"), node("Identity", "go", "on"),
     node("Identity", "next", "each")], "body",
    [helper.make_tensor_value_info(*i) for i in (
        ("i", I64, []), ("go", BOOL, []), ("a", F32, [4]))], [])
for output in ("on", "next", "each"):
    BODY.output.add(name=output)
Case("as many iterations as a size", model(
    [node("Shape", "z", "shape"), node("Gather", "shape first", "trips"),
     node("Loop", "trips  start", "last all", body=BODY)],
    [("x", F32, [4]), ("start", F32, [4]), ("z", F32, ["N", 2])], "last all",
    constants=[constant("first", 0, "i8")]), [
    ({"x": one[0], "start": three[0], "z": random(size, 2)},
     [three[0] + size * one[0],
      three[0] + np.outer(1 + np.arange(size), one[0]).astype("f4")])
    for size in (1, 3, 300)])


def run(tools, case, folder):
    """What is wrong, or nothing."""
    file, bundle = folder / "m.onnx", folder / "m.bundle"
    file.write_bytes(case.made.SerializeToString())
    done = subprocess.run(
        [tools / "dlc", file, "--target=host", "-o", bundle, *case.options],
        capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()
    if case.note and case.note not in done.stderr:
        return f"no note of {case.note}: {done.stderr}"
    for i, (inputs, expected) in enumerate(case.runs):
        saved, arguments = folder / f"out{i}", []
        for name, value in inputs.items():
            np.save(folder / f"{name}.npy", value)
            arguments.append(f"--input={name}={folder / name}.npy")
        done = subprocess.run(
            [tools / "dlc-run", bundle, "--device=host", *arguments,
             f"--save={saved}"], capture_output=True, text=True)
        output = done.stdout + done.stderr
        if isinstance(expected, str):
            if not done.returncode or expected not in output:
                return f"run {i}: not refused for {expected}: {output}"
            continue
        if done.returncode:
            return f"run {i}: {output.strip()}"
        for output, value in zip(case.made.graph.output, expected):
            got = np.load(saved / f"{output.name}.npy")
            if got.shape != value.shape or not np.allclose(
                    got, value, 1e-5, 1e-5, equal_nan=True):
                return (f"run {i}: {output.name} is {got.shape}\n{got}\n"
                        f"expected {value.shape}\n{value}")
    return ""


def main():
    failures = []
    wanted = [c for c in CASES if not sys.argv[2:] or c.name in sys.argv[2:]]
    for case in wanted:
        with tempfile.TemporaryDirectory() as folder:
            problem = run(Path(sys.argv[1]), case, Path(folder))
        if problem:
            failures.append(f"{case.name}: {problem}")
    finish(failures, len(wanted))


if __name__ == "__main__":
    main()
