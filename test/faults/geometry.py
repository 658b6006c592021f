# SPDX-License-Identifier: Apache-2.0
"""HO-01 to HO-08: coordinates, windows and padding."""

from catalog import (TensorProto, f32, fault, helper, i64, model, node, np,
                     random)


@fault(1)
def nearest_resize_at_ties(add):
    x = np.linspace(0, 1, 20, dtype=np.float32).reshape(1, 1, 1, 20)
    # Exact coordinates: 7/6, 4.5, 47/6, 67/6, 14.5, 107/6.
    for rule, indices in (("round_prefer_ceil", [1, 5, 8, 11, 15, 18]),
                          ("round_prefer_floor", [1, 4, 8, 11, 14, 18]),
                          ("floor", [1, 4, 7, 11, 14, 17]),
                          ("ceil", [2, 5, 8, 12, 15, 18])):
        made = model(node("Resize", "x,,,sizes", mode="nearest",
                          coordinate_transformation_mode="half_pixel",
                          nearest_mode=rule), {"x": x}, opset=13,
                     constants={"sizes": i64(1, 1, 1, 6)})
        add.add(rule, made, {"x": x}, {"y": x[..., indices]})


@fault(2)
def nearest_resize_floor_below_zero(add):
    def source(size, scale):
        out = int(np.floor(size * scale))
        at = np.floor((np.arange(out) + 0.5) / scale - 0.5).astype(int)
        return np.clip(at, 0, size - 1)
    for scale in (1.5, 2, 3):
        for shape in ((1, 1, 4, 4), (1, 1, 7, 7), (1, 3, 8, 8)):
            x = random(*shape)
            made = model(node("Resize", "x,,scales", mode="nearest",
                              coordinate_transformation_mode="half_pixel",
                              nearest_mode="floor"), {"x": x}, opset=13,
                         constants={"scales": f32(1, 1, scale, scale)})
            rows, columns = source(shape[2], scale), source(shape[3], scale)
            add.add(f"{shape[2]}x{scale}", made, {"x": x},
                    {"y": x[:, :, rows][:, :, :, columns]})
    assert list(source(4, 2)) == [0, 0, 0, 1, 1, 2, 2, 3]


def cubic_matrix(size, out):
    """align_corners, a = -0.75, borders repeated: out x size, in f64."""
    a, matrix = -0.75, np.zeros((out, size))
    for o in range(out):
        x = o * (size - 1) / (out - 1)
        whole = int(np.floor(x))
        for i in range(whole - 1, whole + 3):
            d = abs(x - i)
            w = ((a + 2) * d - (a + 3)) * d * d + 1 if d <= 1 else (
                ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0)
            matrix[o, min(max(i, 0), size - 1)] += w
    return matrix


@fault(3)
def layout_of_a_branch_result(add):
    def branch(name, addend):
        constant = helper.make_tensor(f"{name}_c", TensorProto.FLOAT, [],
                                      [addend])
        return helper.make_graph(
            [node("Add", f"x,{name}_c", f"{name}_y")], name, [],
            [helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT,
                                           None)], [constant])
    nodes = [node("If", "c", "b", then_branch=branch("then", 2.0),
                  else_branch=branch("else", 1.0)),
             node("Transpose", "b", "t", perm=[0, 1, 3, 2]),
             node("Shape", "x", "shape"),
             node("Slice", "shape,zero,one", "batch"),
             node("Concat", "batch,rest", "sizes", axis=0),
             node("Resize", "t,,,sizes", "y", mode="cubic",
                  coordinate_transformation_mode="align_corners",
                  cubic_coeff_a=-0.75)]
    for shape in ((4, 1, 19, 31), (1, 1, 8, 8)):
        for c in (True, False):
            x = random(*shape)
            inputs = {"c": np.array(c), "x": x}
            made = model(nodes, inputs, opset=13,
                         constants={"zero": i64(0), "one": i64(1),
                                    "rest": i64(1, 40, 24)},
                         shapes={"x": ["N", 1, "H", "W"]})
            wide = (x + np.float32(2 if c else 1)).astype(np.float64)
            y = np.einsum("oi,pj,ncij->ncop", cubic_matrix(shape[3], 40),
                          cubic_matrix(shape[2], 24),
                          wide.transpose(0, 1, 3, 2))
            add.add(f"{shape[2]}-{c}", made, inputs, {"y": y}, 1e-5)


@fault(4)
def transposed_convolution_same_upper(add):
    x, w = f32(2, 3, 4, 5, shape=(1, 1, 2, 2)), np.arange(
        2, 11, dtype=np.float32).reshape(1, 1, 3, 3)
    made = model(node("ConvTranspose", "x,w", auto_pad="SAME_UPPER",
                      strides=[1, 1]), {"x": x}, opset=11, constants={"w": w})
    add.add("same_upper", made, {"x": x},
            {"y": f32(49, 63, 91, 105, shape=(1, 1, 2, 2))})


def conv_transpose(x, w, bias, stride, pad, output_padding, dilation, groups):
    """The formula: every input element spreads its filter."""
    n, channels, height, width = x.shape
    per_group, k = w.shape[1], w.shape[2]
    size = [(s - 1) * stride + (k - 1) * dilation + 1 + output_padding
            for s in (height, width)]
    y = np.zeros((n, per_group * groups, *size))
    for c in range(channels):
        group = c // (channels // groups)
        out = slice(group * per_group, (group + 1) * per_group)
        for i, j, p, q in np.ndindex(height, width, k, k):
            y[:, out, i * stride + p * dilation, j * stride + q * dilation] += (
                x[:, c, i, j, None] * w[c, :, p, q])
    y = y[:, :, pad:size[0] - pad, pad:size[1] - pad]
    return y + bias[None, :, None, None]


@fault(5)
def transposed_convolution_output_padding(add):
    for label, groups, dilation, size in (("plain", 1, 1, 28), ("group", 3, 1, 7),
                                          ("dilation", 1, 2, 7)):
        x, w = random(1, 3, size, size), random(3, 6 // groups, 3, 3, seed=2)
        b = random(6, seed=3)
        made = model(node("ConvTranspose", "x,w,b", strides=[2, 2],
                          pads=[1, 1, 1, 1], output_padding=[1, 1],
                          dilations=[dilation, dilation], group=groups),
                     {"x": x}, opset=11, constants={"w": w, "b": b})
        y = conv_transpose(x.astype(np.float64), w, b, 2, 1, 1, dilation,
                           groups)
        if label == "plain":
            assert y.shape == (1, 6, 56, 56)
        add.add(label, made, {"x": x}, {"y": y}, 1e-5)


@fault(6)
def window_wholly_in_the_padding(add):
    x = f32(1, 2, 3, 4, 5, shape=(1, 1, 5))
    # Windows [pad 1 2] and [3 4 5]; a third would start in the end padding.
    # Length 2, not 3.
    for label, operator, attributes, y in (
            ("max", "MaxPool", {}, [2, 5]),
            ("average", "AveragePool", {"count_include_pad": 0}, [1.5, 4]),
            ("average_pad", "AveragePool", {"count_include_pad": 1}, [1, 4])):
        made = model(node(operator, "x", kernel_shape=[3], strides=[3],
                          pads=[1, 1], ceil_mode=1, **attributes), {"x": x},
                     opset=12)
        add.add(label, made, {"x": x}, {"y": f32(*y, shape=(1, 1, 2))})


@fault(7)
def averaging_windows_at_edges(add):
    x = np.arange(1, 10, dtype=np.float32).reshape(1, 1, 9)
    made = model(node("AveragePool", "x", kernel_shape=[7], strides=[3],
                      pads=[0, 3], ceil_mode=1, count_include_pad=1), {"x": x},
                 opset=12)
    # 4..9 and three zeros of padding; the ninth cell of the last window is none.
    add.add("clipped", made, {"x": x},
            {"y": f32(4, 39 / 7, 24 / 6, shape=(1, 1, 3))}, 1e-6)
    x = random(1, 1, 5, 5)
    padded = np.full((6, 6), np.nan)
    padded[1:, 1:] = x[0, 0]
    y = [[np.nanmean(padded[i:i + 2, j:j + 2]) for j in range(5)]
         for i in range(5)]
    made = model(node("AveragePool", "x", kernel_shape=[2, 2],
                      auto_pad="SAME_LOWER"), {"x": x}, opset=12)
    add.add("same_lower", made, {"x": x}, {"y": np.array([[y]])}, 1e-6)
    y = [[x[0, 0, i:i + 3:2, j:j + 3:2].mean() for j in range(3)]
         for i in range(3)]
    made = model(node("AveragePool", "x", kernel_shape=[2, 2],
                      dilations=[2, 2]), {"x": x}, opset=19)
    add.add("dilated", made, {"x": x}, {"y": np.array([[y]])}, 1e-6)


@fault(8)
def dilated_maximum_with_begin_padding(add):
    x = f32(1, 9, 2, 8, 3, 7, 4, 6, 5, shape=(1, 1, 9))
    attributes = dict(kernel_shape=[2], strides=[1], pads=[1, 1], dilations=[2])
    y = f32(9, 2, 9, 3, 8, 4, 7, 5, 6, shape=(1, 1, 9))
    add.add("values", model(node("MaxPool", "x", **attributes), {"x": x},
                            opset=12), {"x": x}, {"y": y})
    made = model(node("MaxPool", "x", "y indices", **attributes), {"x": x},
                 "y indices", opset=12, types={"indices": np.int64})
    add.add("indices", made, {"x": x},
            {"y": y, "indices": i64(1, 2, 1, 4, 3, 6, 5, 8, 7).reshape(1, 1, 9)})
