# SPDX-License-Identifier: Apache-2.0
"""HO-17 to HO-22: NaN, infinities and integers."""

from catalog import TensorProto, f32, fault, i64, model, node, np

INF, NAN = np.inf, np.nan


@fault(17)
def argmax_of_infinities(add):
    for operator, value in (("ArgMax", -INF), ("ArgMin", INF)):
        x = np.full((4, 12), value, np.float32)
        for last in (0, 1):
            made = model(node(operator, "x", axis=-1, keepdims=0,
                              select_last_index=last), {"x": x}, opset=12,
                         types={"y": np.int64})
            add.add(f"{operator}_{last}", made, {"x": x},
                    {"y": np.full(4, 11 * last)})
        one = np.full((3, 1), value, np.float32)
        made = model(node(operator, "x", axis=1, keepdims=0), {"x": one},
                     opset=13, types={"y": np.int64})
        add.add(f"{operator}_of_one", made, {"x": one},
                {"y": np.zeros(3, np.int64)})


@fault(18)
def extremes_of_infinities(add):
    for dtype in (np.float32, np.float16):
        for operator, value in (("ReduceMax", -INF), ("ReduceMin", INF)):
            for size in (2, 3000):
                x = np.full(size, value, dtype)
                made = model(node(operator, "x", keepdims=0), {"x": x},
                             opset=13, types={"y": dtype})
                add.add(f"{operator}_{np.dtype(dtype).name}_{size}", made,
                        {"x": x}, {"y": np.array(value, dtype)})
    x = np.full((1, 1, 4, 4), -INF, np.float32)
    made = model(node("MaxPool", "x", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
                 {"x": x}, opset=12)
    add.add("MaxPool", made, {"x": x}, {"y": x})


@fault(19)
def nan_wins(add):
    for operator in ("ReduceMax", "ReduceMin"):
        for size in (3, 4, 5, 33, 1025):
            for place in ("first", "last", "middle"):
                x = np.ones(size, np.float32)
                if place == "first":
                    x[:-1] = NAN
                else:
                    x[size // 2 if place == "middle" else -1] = NAN
                made = model(node(operator, "x", keepdims=0), {"x": x},
                             opset=13)
                add.add(f"{operator}_{size}_{place}", made, {"x": x},
                        {"y": np.float32(NAN)})
    x = f32(NAN, -1, 2, NAN)
    z = f32(1, NAN, NAN, NAN)
    add.add("Relu", model(node("Relu", "x"), {"x": x}), {"x": x},
            {"y": f32(NAN, 0, 2, NAN)})
    add.add("Clip", model(node("Clip", "x,low,high"), {"x": x}, constants={
        "low": np.float32(0), "high": np.float32(1)}), {"x": x},
        {"y": f32(NAN, 0, 1, NAN)})
    for operator in ("Max", "Min"):
        add.add(operator, model(node(operator, "x,z"), {"x": x, "z": z}),
                {"x": x, "z": z}, {"y": f32(NAN, NAN, NAN, NAN)})


@fault(20)
def integer_modulo(add):
    for dtype, values in ((np.int32, [18542495, 2147483647, 1800000000, -5]),
                          (np.int64, [18542495, 2**53 + 1, -(2**62) - 3, -5])):
        a, b = np.array(values, dtype), np.array([32], dtype)
        made = model(node("Mod", "a,b", fmod=0), {"a": a, "b": b}, opset=13,
                     types={"y": dtype})
        add.add(np.dtype(dtype).name, made, {"a": a, "b": b},
                {"y": np.mod(a, b)})
    assert list(np.mod([18542495, 2147483647, 1800000000, -5], 32)) == [
        31, 31, 0, 27]
    a, b = np.array([7, -7, 7, -7], np.int32), np.array([-3, 3, 0, -1], np.int32)
    made = model(node("Mod", "a,b"), {"a": a, "b": b}, opset=13,
                 types={"y": np.int32})
    add.add("signs", made, {"a": a, "b": b},
            {"y": np.array([-2, 2, 0, 0], np.int32)})


@fault(21)
def integer_division(add):
    lowest = np.iinfo(np.int64).min
    for label, a, b, y in (
            ("truncates", [8, -8, 7, -7], [-3, 3, -2, 2], [-2, -2, -3, -3]),
            ("by_zero", [5, -5, 0, lowest], [0, 0, 0, -1], [0, 0, 0, lowest])):
        inputs = {"a": i64(*a), "b": i64(*b)}
        made = model(node("Div", "a,b"), inputs, opset=14,
                     types={"y": np.int64})
        add.add(label, made, inputs, {"y": i64(*y)})


@fault(22)
def casts_by_way_of_integers(add):
    x = f32(-.2, -.1, 0, .1, .2)
    made = model([node("Cast", "x", "i", to=TensorProto.INT32),
                  node("Cast", "i", to=TensorProto.BOOL)], {"x": x}, opset=13,
                 types={"y": np.bool_})
    add.add("bool", made, {"x": x}, {"y": np.zeros(5, np.bool_)})
    x = f32(300.7, -1.5, 1e10, NAN, -INF)
    made = model(node("Cast", "x", to=TensorProto.UINT8), {"x": x}, opset=13,
                 types={"y": np.uint8})
    add.add("saturates", made, {"x": x},
            {"y": np.array([255, 0, 255, 0, 0], np.uint8)})
    x = i64(2**53 + 1, 2**24 + 1, -7)
    made = model([node("Cast", "x", "f", to=TensorProto.FLOAT),
                  node("Cast", "f", to=TensorProto.INT64)], {"x": x}, opset=13,
                 types={"y": np.int64})
    add.add("rounds", made, {"x": x}, {"y": i64(2**53, 2**24, -7)})
