# SPDX-License-Identifier: Apache-2.0
"""What docs/ir.md promises where ONNX is silent or implementations differ, and
no fault of the forty shows it."""

from catalog import (TensorProto, f32, helper, i64, model, node, np, promise,
                     random)

INF, NAN = np.inf, np.nan


@promise("class-of-a-result")
def no_algebra_that_loses_a_nan(add):
    """x * 0, x - x and x / x keep NaN, infinities and the sign of zero."""
    x = f32(INF, NAN, -1, -0.0, 3)
    zero = np.float32(0)
    with np.errstate(all="ignore"):
        for label, nodes, y in (
                ("times_zero", node("Mul", "x,zero"), x * zero),
                ("minus_itself", node("Sub", "x,x"), x - x),
                ("over_itself", node("Div", "x,x"), x / x),
                ("zero_over", node("Div", "zero,x"), zero / x)):
            add.add(label, model(nodes, {"x": x}, constants={"zero": zero}),
                    {"x": x}, {"y": y})
        # A reciprocal shows the sign of a zero.
        for label, addend in (("plus_zero", zero), ("minus_zero", -zero)):
            made = model([node("Add", "x,c", "s"), node("Reciprocal", "s")],
                         {"x": x}, constants={"c": addend})
            add.add(label, made, {"x": x}, {"y": np.float32(1) / (x + addend)},
                    typed=True)


@promise("class-of-a-product")
def an_infinity_times_a_weight_is_infinite(add):
    """In 16 bits as well, where a weight is the sum of two numbers."""
    x, w = random(4, 8), random(8, 16, seed=2)
    x[1, 3], x[2, 5], x[3, 0] = INF, -INF, NAN
    w[3, :8] = half = np.float32(np.float16(w[3, :8]))  # no second number
    assert (half != 0).all()
    with np.errstate(all="ignore"):
        y = x @ w
    add.add("MatMul", model(node("MatMul", "x,w"), {"x": x},
                            constants={"w": w}), {"x": x}, {"y": y}, 1e-5)


@promise("long-sums")
def sums_of_many_elements(add):
    """A running sum of ones in f32 would stop at 2^24."""
    x = np.ones((1, 1 << 25), np.float32)
    for operator in ("ReduceSum", "ReduceMean"):
        made = model([node("Expand", "x,shape", "e"),
                      node(operator, "e,axes", keepdims=0)],
                     {"x": x[:, :1]}, constants={
                         "shape": i64(*x.shape), "axes": i64(1)})
        add.add(operator, made, {"x": x[:, :1]},
                {"y": f32(x.size if operator == "ReduceSum" else 1)}, 1e-5,
                typed=True)


@promise("long-sums")
def means_far_from_zero(add):
    """The mean of a row is good to a few roundings, not to one per element:
    what is left after its subtraction is a thousandth of it."""
    x = (1000 + np.random.default_rng(4).standard_normal((40, 4096))).astype(
        np.float32)
    wide = x.astype(np.float64)
    wide -= wide.mean(1, keepdims=True)
    wide /= np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5)
    made = model(node("LayerNormalization", "x,scale"), {"x": x},
                 constants={"scale": np.ones(4096, np.float32)})
    add.add("LayerNormalization", made, {"x": x},
            {"y": wide.astype(np.float32)}, 1.5e-4, typed=True)


@promise("wide-accumulators")
def sums_pass_what_their_type_counts_to(add):
    """In f16 a running sum of ones would stop at 2048."""
    ones = np.ones((2, 4000), np.float16)
    ones[1, ::2] = -1
    made = model(node("ReduceSum", "x,axes", keepdims=0), {"x": ones},
                 constants={"axes": i64(1)}, types={"y": np.float16})
    add.add("ReduceSum", made, {"x": ones},
            {"y": np.array([4000, 0], np.float16)})
    column = np.ones((4000, 3), np.float16)
    made = model(node("MatMul", "x,w"), {"x": ones}, types={"y": np.float16},
                 constants={"w": column})
    add.add("MatMul", made, {"x": ones},
            {"y": np.array([[4000] * 3, [0] * 3], np.float16)})
    x = (np.random.default_rng(1).standard_normal((2, 300)) * 4).astype(
        np.float16)
    e = np.exp(x.astype(np.float64))
    made = model(node("Softmax", "x", axis=1), {"x": x}, opset=13,
                 types={"y": np.float16})
    add.add("Softmax", made, {"x": x}, {"y": e / e.sum(1, keepdims=True)},
            1.5e-3)


@promise("double-stays-double")
def double_is_computed_in_double(add):
    x = np.random.default_rng(1).standard_normal((3, 40))
    w = np.random.default_rng(2).standard_normal((40, 2))
    made = model(node("MatMul", "x,w"), {"x": x}, constants={"w": w},
                 types={"y": np.float64})
    add.add("MatMul", made, {"x": x}, {"y": x @ w}, 1e-13)
    made = model(node("Exp", "x"), {"x": x}, types={"y": np.float64})
    add.add("Exp", made, {"x": x}, {"y": np.exp(x)}, 1e-14)
    made = model(node("ReduceMean", "x,axes", keepdims=0), {"x": x},
                 constants={"axes": i64(1)}, types={"y": np.float64})
    add.add("ReduceMean", made, {"x": x}, {"y": x.mean(1)}, 1e-14)


@promise("integers-stay-integers")
def integers_past_what_floats_hold(add):
    a, b = i64(2**53 + 1, -(2**60) - 7, 5), i64(2, 3, -(2**62))
    with np.errstate(over="ignore"):
        for operator, y in (("Add", a + b), ("Sub", a - b), ("Mul", a * b)):
            made = model(node(operator, "a,b"), {"a": a, "b": b},
                         types={"y": np.int64})
            add.add(operator, made, {"a": a, "b": b}, {"y": y})
    made = model(node("ReduceSum", "a", keepdims=0), {"a": a},
                 types={"y": np.int64})
    add.add("ReduceSum", made, {"a": a}, {"y": a.sum()})
    made = model(node("ReduceMax", "a", keepdims=0), {"a": a},
                 types={"y": np.int64}, opset=13)
    add.add("ReduceMax", made, {"a": a}, {"y": a.max()})
    made = model(node("CumSum", "a,axis"), {"a": a}, types={"y": np.int64},
                 constants={"axis": np.array(0)}, opset=14)
    add.add("CumSum", made, {"a": a}, {"y": np.cumsum(a)})
    # Pads that fill with neighbours beyond what a double tells apart.
    made = model([node("Pad", "a,pads,near", "h"),
                  node("Pad", "h,pads,far")], {"a": a},
                 types={"y": np.int64}, opset=13,
                 constants={"pads": i64(0, 1), "near": np.array(2**53),
                            "far": np.array(2**53 + 1)})
    add.add("Pad", made, {"a": a},
            {"y": np.append(a, i64(2**53, 2**53 + 1))})
    large = np.array([2**30 + 1, 2**30 + 3, 2**30, 2**30 + 4], np.int32)
    made = model(node("ReduceMean", "x", keepdims=0), {"x": large},
                 types={"y": np.int32}, opset=13)
    add.add("ReduceMean", made, {"x": large},
            {"y": np.array(2**30 + 2, np.int32)})
    inputs = {"a": i64(2**53 + 1), "b": i64(2**53)}
    add.add("Equal", model(node("Equal", "a,b"), inputs,
                           types={"y": np.bool_}), inputs,
            {"y": np.array([False])})
    small = np.array([250, 9], np.uint8)
    made = model(node("Add", "x,x"), {"x": small}, types={"y": np.uint8})
    add.add("wraps", made, {"x": small}, {"y": np.array([244, 18], np.uint8)})


@promise("nan-wins")
def nan_in_windows_and_choices(add):
    x = f32(1, NAN, 3, 4, 5, 6, shape=(1, 1, 6))
    made = model(node("MaxPool", "x", kernel_shape=[2], strides=[2]), {"x": x},
                 opset=12)
    add.add("MaxPool", made, {"x": x}, {"y": f32(NAN, 4, 6, shape=(1, 1, 3))})
    x = f32((1, NAN, 3, NAN), (9, 9, 2, 1))
    for operator, y in (("ArgMax", [1, 0]), ("ArgMin", [1, 3])):
        made = model(node(operator, "x", axis=1, keepdims=0), {"x": x},
                     opset=13, types={"y": np.int64})
        add.add(operator, made, {"x": x}, {"y": i64(*y)})


@promise("reduction-over-nothing")
def neutral_elements(add):
    for dtype in (np.float32, np.int32):
        x = np.zeros((2, 0), dtype)
        low, high = ((-INF, INF) if dtype == np.float32 else
                     (np.iinfo(dtype).min, np.iinfo(dtype).max))
        for operator, value in (("ReduceSum", 0), ("ReduceProd", 1),
                                ("ReduceMax", low), ("ReduceMin", high)):
            made = model(node(operator, "x,axes", keepdims=0), {"x": x},
                         constants={"axes": i64(1)}, types={"y": dtype},
                         opset=20)
            add.add(f"{operator}_{np.dtype(dtype).name}", made, {"x": x},
                    {"y": np.full(2, value, dtype)})


@promise("casts-round")
def pairs_of_casts_stay(add):
    x = f32(0.1, 2049, -7.9, 1e-9)
    for label, middle, y in (
            ("half", TensorProto.FLOAT16, x.astype(np.float16)),
            ("int8", TensorProto.INT8, f32(0, 127, -7, 0)),
            ("int32", TensorProto.INT32, f32(0, 2049, -7, 0))):
        made = model([node("Cast", "x", "c", to=middle),
                      node("Cast", "c", to=TensorProto.FLOAT)], {"x": x})
        add.add(label, made, {"x": x}, {"y": y.astype(np.float32)})
    n = i64(300, -129, 2**33 + 5)
    made = model([node("Cast", "n", "c", to=TensorProto.INT8),
                  node("Cast", "c", to=TensorProto.INT64)], {"n": n},
                 types={"y": np.int64})
    add.add("wraps", made, {"n": n}, {"y": i64(44, 127, 5)})


@promise("quantise")
def quantisation_rounds_to_even_and_saturates(add):
    x = f32(.5, 1.5, 2.5, -.5, -1.5, 1000, -1000, 126.5)
    made = model(node("QuantizeLinear", "x,scale,zero"), {"x": x}, opset=13,
                 constants={"scale": np.float32(1), "zero": np.int8(0)},
                 types={"y": np.int8})
    add.add("int8", made, {"x": x},
            {"y": np.array([0, 2, 2, 0, -2, 127, -128, 126], np.int8)})
    made = model(node("QuantizeLinear", "x,scale,zero"), {"x": x}, opset=13,
                 constants={"scale": np.float32(2), "zero": np.uint8(3)},
                 types={"y": np.uint8})
    add.add("uint8", made, {"x": x},
            {"y": np.array([3, 4, 4, 3, 2, 255, 0, 66], np.uint8)})


@promise("finite-constants")
def constants_stay_finite_in_lower_precision(add):
    x = random(4, 8)
    for precision in ("fp16", "bf16"):
        made = model([node("Mul", "x,large", "m"), node("Mul", "m,small")],
                     {"x": x}, constants={"large": np.float32(1e6),
                                          "small": np.float32(1e-6)})
        add.add(precision, made, {"x": x}, {"y": x}, 1e-2,
                options=[f"--precision={precision}"])


@promise("scatter")
def scatters_that_repeat_and_miss(add):
    x = f32(10, 20, 30, 40)
    for label, attributes, y in (("last_wins", {}, [10, 3, 30, 2]),
                                 ("add", {"reduction": "add"}, [10, 24, 30, 42])
                                 ):
        inputs = {"x": x, "i": i64(1, -1, 1, 9), "u": f32(1, 2, 3, 4)}
        made = model(node("ScatterElements", "x,i,u", axis=0, **attributes),
                     inputs)
        add.add(f"elements_{label}", made, inputs, {"y": f32(*y)})
        inputs = {"x": x, "i": i64(1, -1, 1, -5).reshape(4, 1),
                  "u": f32(1, 2, 3, 4)}
        made = model(node("ScatterND", "x,i,u", **attributes), inputs)
        add.add(f"nd_{label}", made, inputs, {"y": f32(*y)})
    many = np.random.default_rng(1).integers(0, 50, 5000)
    inputs = {"x": random(50), "i": many, "u": random(5000, seed=2)}
    y = inputs["x"].copy()
    y[many] = inputs["u"]  # NumPy keeps the last, too
    made = model(node("ScatterElements", "x,i,u", axis=0), inputs)
    add.add("many", made, inputs, {"y": y})


@promise("ties")
def ties_go_to_the_lower_index(add):
    x = np.random.default_rng(1).integers(0, 50, (3, 3000)).astype(np.float32)
    order = np.argsort(-x, axis=1, kind="stable")[:, :2000]
    made = model(node("TopK", "x,k", "v i", axis=1), {"x": x}, "v i",
                 opset=11, constants={"k": i64(2000)}, types={"i": np.int64})
    add.add("TopK", made, {"x": x}, {
        "v": np.take_along_axis(x, order, 1), "i": order})
    order = np.argsort(x, axis=1, kind="stable")[:, :7]
    made = model(node("TopK", "x,k", "v i", axis=1, largest=0), {"x": x},
                 "v i", opset=11, constants={"k": i64(7)},
                 types={"i": np.int64})
    add.add("smallest", made, {"x": x}, {
        "v": np.take_along_axis(x, order, 1), "i": order})
    made = model(node("ArgMax", "x", axis=1, keepdims=0), {"x": x}, opset=13,
                 types={"y": np.int64})
    add.add("ArgMax", made, {"x": x}, {"y": x.argmax(1)})


@promise("true-sizes")
def results_of_their_true_size(add):
    for label, x in (("some", f32((0, 1, 0), (2, 0, NAN))),
                     ("none", np.zeros((2, 3), np.float32))):
        made = model(node("NonZero", "x"), {"x": x}, opset=13,
                     types={"y": np.int64})
        add.add(f"NonZero_{label}", made, {"x": x},
                {"y": np.array(np.nonzero(x), np.int64)})


@promise("ranks")
def ranks_from_zero_to_eight(add):
    eight = random(2, 1, 3, 1, 2, 2, 1, 3)
    order = [7, 0, 4, 2, 6, 1, 5, 3]
    made = model(node("Transpose", "x", perm=order), {"x": eight})
    add.add("Transpose", made, {"x": eight},
            {"y": np.ascontiguousarray(eight.transpose(order))})
    other = random(4, 1, 3, 1, 1, 5, 1, seed=2)
    made = model(node("Add", "x,z"), {"x": eight, "z": other})
    add.add("Add", made, {"x": eight, "z": other}, {"y": eight + other},
            typed=True)
    made = model(node("ReduceMax", "x,axes", keepdims=0), {"x": eight},
                 constants={"axes": i64(1, 3, 6, 7)})
    add.add("ReduceMax", made, {"x": eight}, {"y": eight.max((1, 3, 6, 7))})
    made = model(node("Slice", "x,starts,ends,axes,steps"), {"x": eight},
                 constants={"starts": i64(2, 1), "ends": i64(0, 2),
                            "axes": i64(2, 4), "steps": i64(-1, 1)})
    add.add("Slice", made, {"x": eight},
            {"y": eight[:, :, 2:0:-1, :, 1:2].copy()})
    scalar = np.array(-2.5, np.float32)
    for operator in ("Relu", "Neg", "Floor"):
        y = {"Relu": 0, "Neg": 2.5, "Floor": -3}[operator]
        made = model(node(operator, "x"), {"x": scalar})
        add.add(operator, made, {"x": scalar}, {"y": np.float32(y)})
    made = model(node("ReduceSum", "x", keepdims=0), {"x": scalar})
    add.add("ReduceSum", made, {"x": scalar}, {"y": scalar})


@promise("branches-of-other-sizes")
def no_branch_is_empty(add):
    """Then an ArgMax finds an element along the axis, whichever is taken."""
    x = random(5, 4)

    def branch(n):
        result = helper.make_tensor_value_info(n.output[0], TensorProto.FLOAT,
                                               None)
        return helper.make_graph([n], n.output[0], [], [result])
    choose = node("If", "c", "v", then_branch=branch(
        node("Gather", "x,rows", "few", axis=0)), else_branch=branch(
        node("Concat", "x,x", "many", axis=0)))
    rows = i64(4, 1, 0)
    for c in (True, False):
        v = x[rows] if c else np.concatenate([x, x])
        made = model([choose, node("ArgMax", "v", axis=0, keepdims=0)],
                     {"x": x, "c": np.array(c)}, constants={"rows": rows},
                     types={"y": np.int64})
        add.add(str(c), made, {"x": x, "c": np.array(c)},
                {"y": v.argmax(0)})


@promise("unique-of-nothing")
def unique_of_what_may_be_empty(add):
    """A size that is 0, and one that is counted and may be."""
    none = np.zeros(0, np.int64)
    types = dict.fromkeys(("y", "first", "inverse", "counts"), np.int64)
    for chosen in ((), (2, 0, 2), (1,)):
        x = np.array([7, -3, 2**53 + 1], np.int64)
        mask = np.zeros((2, 3), bool)
        for row, column in enumerate(chosen[:2]):
            mask[row, column] = True
        picked = x[np.nonzero(mask)[1]]
        y, first, inverse, counts = np.unique(
            picked, return_index=True, return_inverse=True, return_counts=True)
        made = model([node("NonZero", "mask", "at"),
                      node("Gather", "at,last", "column", axis=0),
                      node("Gather", "x,column", "picked", axis=0),
                      node("Unique", "picked", "y first inverse counts")],
                     {"x": x, "mask": mask}, "y first inverse counts",
                     constants={"last": np.int64(1)}, types=types)
        add.add(f"counted_{len(chosen)}", made, {"x": x, "mask": mask},
                {"y": y, "first": first, "inverse": inverse,
                 "counts": counts})
    for order in (0, 1):
        made = model(node("Unique", "x", "y first inverse counts",
                          sorted=order), {"x": none},
                     "y first inverse counts", types=types)
        add.add(f"empty_{order}", made, {"x": none},
                {"y": none, "first": none, "inverse": none, "counts": none})


@promise("softmax")
def softmax_at_its_edges(add):
    x = f32((-INF, -INF, -INF), (1e4, 1e4, -1e4), (0, -INF, 0), (INF, 1, 2),
            (NAN, 1, 2))
    y = f32((NAN,) * 3, (.5, .5, 0), (.5, 0, .5), (NAN, NAN, NAN), (NAN,) * 3)
    made = model(node("Softmax", "x", axis=1), {"x": x}, opset=13)
    # inf - inf is NaN there, and 0 elsewhere in the row over a NaN sum.
    add.add("rows", made, {"x": x}, {"y": y}, 1e-6)


@promise("refusals")
def what_is_not_consumed_is_named(add):
    x = random(2, 3)
    made = model(node("Relu", "x", glow=3), {"x": x})
    add.add("attribute", made, {"x": x}, {}, refusal="glow")
    made = model(node("Frobnicate", "x"), {"x": x})
    add.add("operator", made, {"x": x}, {}, refusal="Frobnicate")
