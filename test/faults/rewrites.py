# SPDX-License-Identifier: Apache-2.0
"""HO-23 to HO-29: rewrites that would change the meaning."""

from catalog import f32, fault, i64, model, node, np, random


def layer_norm_chain(keepdims):
    return [node("ReduceMean", "x,axes", "mean", keepdims=keepdims),
            node("Sub", "x,mean", "centred"),
            node("Pow", "centred,two", "squares"),
            node("ReduceMean", "squares,axes", "variance", keepdims=keepdims),
            node("Add", "variance,epsilon", "shifted"),
            node("Sqrt", "shifted", "deviation"),
            node("Div", "centred,deviation", "normal"),
            node("Mul", "normal,gamma", "scaled"),
            node("Add", "scaled,beta")]


def layer_norm(x, gamma, beta, keepdims):
    x = x.astype(np.float64)
    centred = x - x.mean(-1, keepdims=keepdims)
    deviation = np.sqrt((centred ** 2).mean(-1, keepdims=keepdims) + 1e-5)
    return centred / deviation * gamma + beta


@fault(23)
def layer_norm_with_a_broadcast_scale(add):
    x, beta = random(2, 3, 4), random(4, seed=2)
    for shape in ((4,), (3, 1), (1,), (2, 1, 1)):
        gamma = random(*shape, seed=3)
        made = model(layer_norm_chain(1), {"x": x}, constants={
            "axes": i64(-1), "two": np.float32(2), "epsilon": np.float32(1e-5),
            "gamma": gamma, "beta": beta})
        add.add("x".join(map(str, shape)), made, {"x": x},
                {"y": layer_norm(x, gamma, beta, True)}, 2e-5)


@fault(24)
def layer_norm_without_keepdims(add):
    x = random(4, 4)
    gamma, beta = random(4, seed=2), random(4, seed=3)
    made = model(layer_norm_chain(0), {"x": x}, constants={
        "axes": i64(-1), "two": np.float32(2), "epsilon": np.float32(1e-5),
        "gamma": gamma, "beta": beta})
    add.add("square", made, {"x": x},
            {"y": layer_norm(x, gamma, beta, False)}, 2e-5)


@fault(25)
def grouped_convolution_and_addition(add):
    def grouped(x, w, group):
        n, c, height, width = x.shape
        parts = x.astype(np.float64).reshape(n, group, c // group, height,
                                             width)
        filters = w[:, :, 0, 0].reshape(group, -1, w.shape[1])
        return np.einsum("ngchw,gmc->ngmhw", parts, filters).reshape(
            n, -1, height, width)
    for label, channels, size, group in (("reported", 136, 28, 4),
                                         ("small", 8, 4, 4),
                                         ("depthwise", 8, 4, 8)):
        x = random(1, channels, size, size)
        w = random(channels, channels // group, 1, 1, seed=2)
        y = grouped(x, w, group)
        shapes = [(1, channels, size, size)]
        if label != "reported":
            shapes += [(channels, 1, 1), (1, 1, size, size)]
        for shape in shapes:
            z = random(*shape, seed=3)
            nodes = [node("Conv", "x,w", "c", group=group),
                     node("Add", "c,z")]
            name = f"{label}_{'x'.join(map(str, shape))}"
            add.add(f"{name}_constant", model(nodes, {"x": x}, constants={
                "w": w, "z": z}), {"x": x}, {"y": y + z}, 1e-5)
            add.add(f"{name}_input", model(nodes, {"x": x, "z": z}, constants={
                "w": w}), {"x": x, "z": z}, {"y": y + z}, 1e-5)


@fault(26)
def clip_keeps_its_upper_bound(add):
    x, w, b = random(2, 3), 6 * random(3, 4, seed=2), random(4, seed=3)
    sums = x.astype(np.float64) @ w + b
    assert (sums > 6).any() and (sums < 0).any()
    y = np.clip(sums, 0, 6)
    bounds = {"low": np.float32(0), "high": np.float32(6)}
    nodes = [node("MatMul", "x,w", "m"), node("Add", "m,b", "s"),
             node("Clip", "s,low,high")]
    add.add("matmul", model(nodes, {"x": x}, opset=13, constants={
        "w": w, "b": b, **bounds}), {"x": x}, {"y": y}, 1e-5)
    constants = [node("Constant", "", "low", value_float=0.0),
                 node("Constant", "", "high", value_float=6.0)]
    for c in constants:
        del c.input[:]
    add.add("constant_nodes", model(constants + nodes, {"x": x}, opset=13,
                                    constants={"w": w, "b": b}), {"x": x},
            {"y": y}, 1e-5)
    gemm = [node("Gemm", "x,w,b", "s"), node("Clip", "s,low,high")]
    add.add("gemm", model(gemm, {"x": x}, opset=13, constants={
        "w": w, "b": b, **bounds}), {"x": x}, {"y": y}, 1e-5)
    pixels = np.ascontiguousarray(x.T.reshape(1, 3, 1, 2))
    filters = np.ascontiguousarray(w.T.reshape(4, 3, 1, 1))
    conv = [node("Conv", "x,w,b", "s"), node("Clip", "s,low,high")]
    add.add("conv", model(conv, {"x": pixels}, opset=13, constants={
        "w": filters, "b": b, **bounds}), {"x": pixels},
        {"y": y.T.reshape(1, 4, 1, 2)}, 1e-5)


@fault(27)
def clip_at_its_edges(add):
    x = f32(-2, 0, 6)
    made = model(node("Clip", "x,low,high"), {"x": x}, opset=13, constants={
        "low": np.float32(2), "high": np.float32(1)})
    add.add("crossed", made, {"x": x}, {"y": f32(1, 1, 1)})
    x = np.array([-2, .5, 6], np.float64)
    made = model([node("Relu", "x", "r"), node("Clip", "r,low,high")],
                 {"x": x}, opset=13, types={"y": np.float64},
                 constants={"low": np.float64(-1), "high": np.float64(1)})
    add.add("double", made, {"x": x}, {"y": np.array([0, .5, 1])})
    for dtype in (np.float32, np.int32, np.int64):
        x = np.array([-5, 2, 9], dtype)
        low, high = np.array(-1, dtype), np.array(4, dtype)
        for label, inputs, y in (
                ("both", "x,low,high", [-1, 2, 4]), ("low", "x,low", [-1, 2, 9]),
                ("high", "x,,high", [-5, 2, 4]), ("neither", "x", [-5, 2, 9])):
            constants = {name: value for name, value in
                         (("low", low), ("high", high)) if name in inputs}
            made = model(node("Clip", inputs), {"x": x}, opset=13,
                         constants=constants, types={"y": dtype})
            add.add(f"{label}_{np.dtype(dtype).name}", made, {"x": x},
                    {"y": np.array(y, dtype)})


@fault(28)
def reduction_into_a_broadcast_division(add):
    x, z = f32(6).reshape(1, 1, 1, 1, 1), f32((2, 5), (3, 4))
    made = model([node("ReduceMin", "z", "least", axes=[0], keepdims=0),
                  node("Div", "x,least")], {"x": x, "z": z}, opset=13)
    add.add("ranks", made, {"x": x, "z": z},
            {"y": f32(3, 1.5).reshape(1, 1, 1, 1, 2)}, 1e-6)


@fault(29)
def differences_that_do_not_cancel(add):
    x = f32(0.3, 1e8, -7.25)
    one = np.float32(1)
    chains = {
        "x-(x+1)": ([node("Add", "x,one", "s"), node("Sub", "x,s")],
                    x - (x + one)),
        "x-(1-x)": ([node("Sub", "one,x", "s"), node("Sub", "x,s")],
                    x - (one - x)),
        "(x+1)-x": ([node("Add", "x,one", "s"), node("Sub", "s,x")],
                    (x + one) - x),
        "x_over_x3": ([node("Mul", "x,three", "s"), node("Div", "x,s")],
                      x / (x * np.float32(3)))}
    assert chains["x-(x+1)"][1][1] == 0
    for label, (nodes, y) in chains.items():
        made = model(nodes, {"x": x}, constants={"one": one,
                                                 "three": np.float32(3)})
        add.add(label, made, {"x": x}, {"y": y}, typed=True)
