# SPDX-License-Identifier: Apache-2.0
"""HO-30 to HO-32: meanings that changed with the opset, and broadcasting."""

from catalog import f32, fault, i64, model, node, np, random


def softmax(x, axes):
    e = np.exp(x - x.max(axes, keepdims=True))
    return e / e.sum(axes, keepdims=True)


@fault(30)
def softmax_of_two_meanings(add):
    x = random(2, 3, 4)
    wide = x.astype(np.float64)

    def hardmax(x, axes):
        # The first of the largest ones, in row-major order of the axes.
        flat = x.reshape(*x.shape[:axes[0]], -1, *x.shape[axes[-1] + 1:])
        axis = axes[0]
        y = np.zeros_like(flat)
        np.put_along_axis(y, flat.argmax(axis, keepdims=True), 1, axis)
        return y.reshape(x.shape)

    functions = {"Softmax": softmax,
                 "LogSoftmax": lambda x, axes: np.log(softmax(x, axes)),
                 "Hardmax": hardmax}
    for operator, function in functions.items():
        for opset, default in ((11, 1), (13, 2)):
            for axis in (None, 0, 1, 2):
                at = default if axis is None else axis
                axes = tuple(range(at, 3)) if opset < 13 else (at,)
                attributes = {} if axis is None else {"axis": axis}
                made = model(node(operator, "x", **attributes), {"x": x},
                             opset=opset)
                add.add(f"{operator}_{opset}_{axis}", made, {"x": x},
                        {"y": function(wide, axes)}, 1e-6)


@fault(31)
def reductions_over_no_axes(add):
    x = random(3, 2, 2) + np.float32(3)
    wide = x.astype(np.float64)
    functions = {
        "ReduceSum": (lambda v: v, np.sum), "ReduceMean": (lambda v: v, np.mean),
        "ReduceMax": (lambda v: v, np.max),
        "ReduceSumSquare": (np.square, np.sum), "ReduceL1": (np.abs, np.sum),
        "ReduceL2": (np.abs, lambda v, **k: np.sqrt(np.sum(v * v, **k))),
        "ReduceLogSum": (np.log, lambda v, **k: np.log(
            np.sum(np.exp(v), **k))),
        "ReduceLogSumExp": (lambda v: v, lambda v, **k: np.log(
            np.sum(np.exp(v), **k)))}
    for operator, (single, reduce) in functions.items():
        for noop in (0, 1):
            for given in ("absent", "empty"):
                y = single(wide) if noop else reduce(single(wide),
                                                     keepdims=True)
                inputs = "x" if given == "absent" else "x,axes"
                made = model(node(operator, inputs, noop_with_empty_axes=noop),
                             {"x": x}, constants={} if given == "absent" else {
                                 "axes": i64()})
                add.add(f"{operator}_{noop}_{given}", made, {"x": x},
                        {"y": y}, 1e-6)


@fault(32)
def slope_aligned_with_the_last_axis(add):
    x = random(1, 3, 2, 3)
    for shape in ((3,), (3, 1, 1), (1,), (1, 3, 1, 1), (1, 3, 2, 3)):
        slope = random(*shape, seed=2)
        made = model(node("PRelu", "x,slope"), {"x": x}, opset=16,
                     constants={"slope": slope})
        add.add("x".join(map(str, shape)), made, {"x": x},
                {"y": np.where(x < 0, x * slope, x)}, 1e-6)
    line, slope = random(3), f32(.5, 2, -1)
    made = model(node("PRelu", "x,slope"), {"x": line}, opset=16,
                 constants={"slope": slope})
    add.add("vector", made, {"x": line},
            {"y": np.where(line < 0, line * slope, line)}, 1e-6)
