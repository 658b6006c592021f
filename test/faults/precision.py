# SPDX-License-Identifier: Apache-2.0
"""HO-33 to HO-37: narrow types and quantised graphs."""

from catalog import fault, i64, model, node, np, random


def half(array):
    return np.asarray(array).astype(np.float16)


@fault(33)
def instance_norm_in_half(add):
    sign = np.where(np.indices((4, 4, 4)).sum(0) % 2, -1, 1)
    checkers = half(np.stack([512 * sign, 256 * sign])[None])
    noise = np.random.default_rng(1).choice([-1.0, 1.0], (1, 2, 8, 8))
    for label, x in (("checkers", checkers), ("offset", half(1000 + noise))):
        wide = x.astype(np.float64)
        axes = tuple(range(2, x.ndim))
        y = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(
            wide.var(axes, keepdims=True) + 1e-5)
        made = model(node("InstanceNormalization", "x,scale,bias",
                          epsilon=1e-5), {"x": x}, types={"y": np.float16},
                     constants={"scale": half([1, 1]), "bias": half([0, 0])})
        add.add(label, made, {"x": x}, {"y": y}, 1e-3)


@fault(34)
def group_norm_of_one_group(add):
    x = random(2, 4, 3, 3)
    scale, bias = random(4, seed=2), random(4, seed=3)
    for groups in (1, 2, 4):
        parts = x.astype(np.float64).reshape(2, groups, -1)
        normal = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(
            parts.var(-1, keepdims=True) + 1e-5)
        y = (normal.reshape(x.shape) * scale[:, None, None] +
             bias[:, None, None])
        made = model(node("GroupNormalization", "x,scale,bias",
                          num_groups=groups), {"x": x}, opset=21,
                     constants={"scale": scale, "bias": bias})
        add.add(f"groups_{groups}", made, {"x": x}, {"y": y}, 2e-5)


@fault(35)
def length_in_half(add):
    x = half(np.full((1, 512), 32) *
             np.random.default_rng(1).choice([-1, 1], (1, 512)))
    y = x.astype(np.float64) / np.sqrt(512 * 32.0 ** 2)
    l2 = [node("ReduceL2", "x,axes", "n", keepdims=1), node("Div", "x,n")]
    add.add("ReduceL2", model(l2, {"x": x}, constants={"axes": i64(-1)},
                              types={"y": np.float16}), {"x": x}, {"y": y},
            2e-3)
    add.add("LpNormalization", model(
        node("LpNormalization", "x", axis=-1, p=2), {"x": x}, opset=22,
        types={"y": np.float16}), {"x": x}, {"y": y}, 2e-3)
    chain = [node("Mul", "x,x", "q"),
             node("ReduceSum", "q,axes", "s", keepdims=1),
             node("Add", "s,tiny", "t"), node("Sqrt", "t", "n"),
             node("Div", "x,n")]
    add.add("chain", model(chain, {"x": x}, constants={
        "axes": i64(-1), "tiny": half(1e-6)}, types={"y": np.float16}),
        {"x": x}, {"y": y}, 2e-3, wide=True)


@fault(36)
def resize_between_quantisations(add):
    x = np.array([2, 7, 4], np.float32).reshape(1, 1, 1, 3)
    one, zero = np.float32(1), np.int8(0)
    nodes = [node("QuantizeLinear", "x,one,zero", "a"),
             node("DequantizeLinear", "a,one,zero", "b"),
             node("Resize", "b,,,sizes", "c", mode="linear",
                  coordinate_transformation_mode="half_pixel"),
             node("QuantizeLinear", "c,one,zero", "d"),
             node("DequantizeLinear", "d,one,zero")]
    made = model(nodes, {"x": x}, opset=13, constants={
        "one": one, "zero": zero, "sizes": i64(1, 1, 1, 6)})
    # Before rounding 2, 3.25, 5.75, 6.25, 4.75, 4.
    add.add("linear", made, {"x": x}, {
        "y": np.array([2, 3, 6, 6, 5, 4], np.float32).reshape(1, 1, 1, 6)})


@fault(37)
def bias_with_a_scale_of_its_own(add):
    generator = np.random.default_rng(1)
    x = generator.integers(-100, 100, (1, 3, 4, 4), dtype=np.int8)
    w = generator.integers(-100, 100, (4, 3, 1, 1), dtype=np.int8)
    b = generator.integers(-500, 500, 4, dtype=np.int32)
    sx, sb, sy = np.float32(.05), np.float32(.02), np.float32(.5)
    for label, sw in (("tensor", np.float32(.1)), ("channel", np.array(
            [.1, .05, .2, .15], np.float32))):
        wide = np.broadcast_to(np.float64(sw), 4)
        sums = np.einsum("nchw,mc->nmhw", x.astype(np.float64) * sx,
                         w[:, :, 0, 0] * wide[:, None])
        y = sums + (b * np.float64(sb))[None, :, None, None]
        nodes = [node("DequantizeLinear", "x,sx", "fx"),
                 node("DequantizeLinear", "w,sw", "fw", axis=0),
                 node("DequantizeLinear", "b,sb", "fb"),
                 node("Conv", "fx,fw,fb", "c"),
                 node("QuantizeLinear", "c,sy,zero", "q"),
                 node("DequantizeLinear", "q,sy,zero")]
        made = model(nodes, {"x": x}, opset=13, constants={
            "w": w, "b": b, "sx": sx, "sw": sw, "sb": sb, "sy": sy,
            "zero": np.int8(0)})
        steps = np.clip(np.rint(y / sy), -128, 127)
        # A sum that lies on a tie may round either way: one step at most.
        add.add(label, made, {"x": x}, {"y": steps * sy}, float(sy) * 1.01)
