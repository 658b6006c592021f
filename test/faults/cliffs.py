# SPDX-License-Identifier: Apache-2.0
"""HO-38 to HO-40: graphs that were slow elsewhere. Here their values are
checked; how fast they are is the benches' business."""

from catalog import fault, model, node, np, random


@fault(38)
def argmax_over_classes(add):
    x = random(1, 19, 64, 128)
    for opset in (12, 13):
        made = model(node("ArgMax", "x", axis=1, keepdims=0), {"x": x},
                     opset=opset, types={"y": np.int64})
        add.add(f"opset_{opset}", made, {"x": x}, {"y": x.argmax(1)})


def conv3x3(x, w):
    """Stride 1, padding 1, in f64."""
    height, width = x.shape[2:]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return sum(np.einsum("nchw,mc->nmhw",
                         padded[:, :, i:i + height, j:j + width], w[:, :, i, j])
               for i in range(3) for j in range(3))


@fault(39)
def many_shapes_of_one_model(add):
    sizes = [(3, 32), (32, 32), (32, 64), (64, 64)]
    weights = {f"w{i}": random(out, n, 3, 3, seed=i) / np.float32(
        np.sqrt(4.5 * n)) for i, (n, out) in enumerate(sizes)}
    nodes = []
    for i in range(len(sizes)):
        last = "y" if i + 1 == len(sizes) else f"r{i}"
        nodes += [node("Conv", f"{f'r{i - 1}' if i else 'x'},w{i}", f"c{i}",
                       pads=[1, 1, 1, 1]), node("Relu", f"c{i}", last)]
    for batch, width in ((1, 17), (2, 40), (3, 23)):
        x = random(batch, 3, 12, width)
        y = x.astype(np.float64)
        for w in weights.values():
            y = np.maximum(conv3x3(y, w.astype(np.float64)), 0)
        made = model(nodes, {"x": x}, constants=weights, opset=13,
                     shapes={"x": ["N", 3, 12, "W"]})
        add.add(f"{batch}x{width}", made, {"x": x}, {"y": y}, 1e-5)


@fault(40)
def quantised_blocks(add):
    scale, nodes = {"sa": np.float32(.04), "za": np.int8(0)}, []

    def quantised(name, s, z, **attributes):
        return [node("QuantizeLinear", f"{name},{s},{z}", f"{name}_q",
                     **attributes),
                node("DequantizeLinear", f"{name}_q,{s},{z}", f"{name}_d",
                     **attributes)]
    last = "x"
    for i in range(2):
        scale[f"w{i}"] = random(8, 8, 3, 3, seed=i + 2) / np.float32(6)
        scale[f"sw{i}"] = np.full(8, .005, np.float32)
        scale[f"zw{i}"] = np.zeros(8, np.int8)
        nodes += quantised(last, "sa", "za")
        nodes += quantised(f"w{i}", f"sw{i}", f"zw{i}", axis=0)
        nodes += [node("Conv", f"{last}_d,w{i}_d", f"c{i}", pads=[1, 1, 1, 1]),
                  node("Sigmoid", f"c{i}", f"s{i}"),
                  node("Mul", f"c{i},s{i}", f"m{i}")]
        last = f"m{i}"
    nodes.append(node("Add", f"{last},m0"))
    x = random(1, 8, 10, 10)
    y = x.astype(np.float64)
    blocks = []
    for i in range(2):
        step = np.clip(np.rint(y / scale["sa"]), -128, 127) * np.float64(
            scale["sa"])
        w = np.clip(np.rint(scale[f"w{i}"] / np.float64(.005)), -128,
                    127) * np.float64(np.float32(.005))
        c = conv3x3(step, w)
        y = c / (1 + np.exp(-c))
        blocks.append(y)
    made = model(nodes, {"x": x}, constants=scale, opset=13)
    # A value on a tie of the second quantisation may move by a step.
    add.add("residual", made, {"x": x}, {"y": blocks[1] + blocks[0]}, 5e-3)
