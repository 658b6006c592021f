# SPDX-License-Identifier: Apache-2.0
"""HO-09 to HO-16: indices, sizes and shapes."""

from catalog import f32, fault, i64, model, node, np, random

LOWEST, HIGHEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@fault(9)
def slice_with_negative_steps(add):
    def case(label, x, start, end, axis, step, y):
        made = model(node("Slice", "x,starts,ends,axes,steps"), {"x": x},
                     opset=13, constants={
                         "starts": i64(start), "ends": i64(end),
                         "axes": i64(axis), "steps": i64(step)})
        add.add(label, made, {"x": x}, {"y": y})
    ten = np.arange(10, dtype=np.float32)
    twenty, grid = np.arange(20, dtype=np.float32), random(3, 4)
    case("by1", ten, 9, 0, 0, -1, f32(9, 8, 7, 6, 5, 4, 3, 2, 1))
    case("by3", ten, 9, 0, 0, -3, f32(9, 6, 3))
    case("rows", grid, 2, 0, 0, -1, grid[[2, 1]])
    case("columns", grid, 3, 0, 1, -1, grid[:, [3, 2, 1]])
    case("twenty", twenty, 19, 0, 0, -3, f32(19, 16, 13, 10, 7, 4, 1))
    case("to_the_first", ten, HIGHEST, LOWEST, 0, -1, ten[::-1].copy())
    case("from_beyond", ten, 100, LOWEST, 0, -4, f32(9, 5, 1))


@fault(10)
def negative_start_at_run_time(add):
    for size in (3, 7):
        x = random(1, size, 4)
        for start in (-2, -(size + 5), 1):
            starts = i64(start)
            inputs = {"x": x, "starts": starts}
            made = model(node("Slice", "x,starts,ends,axes"), inputs, opset=13,
                         constants={"ends": i64(HIGHEST), "axes": i64(1)},
                         shapes={"x": [1, "T", 4]})
            y = x[:, max(start, -size):]
            add.add(f"input_{size}_{start}", made, inputs, {"y": y})
            made = model(node("Slice", "x,starts,ends,axes"), {"x": x},
                         opset=13, constants={
                             "starts": starts, "ends": i64(HIGHEST),
                             "axes": i64(1)}, shapes={"x": [1, "T", 4]})
            add.add(f"constant_{size}_{start}", made, {"x": x}, {"y": y})


@fault(11)
def empty_tensors(add):
    def case(label, nodes, inputs, y, **more):
        add.add(label, model(nodes, inputs, **more), inputs, {"y": y})
    none = np.zeros((1, 8400, 0), np.float32)
    case("gather", node("Gather", "x,index", axis=0), {"x": none},
         np.zeros((8400, 0), np.float32), constants={"index": np.array(0)})
    x = np.zeros((2, 0, 3), np.float32)
    full = random(2, 4, 3)
    case("concat", node("Concat", "x,z", axis=1), {"x": x, "z": full}, full)
    case("add", node("Add", "x,x"), {"x": x}, x)
    case("matmul", node("MatMul", "x,z"),
         {"x": np.zeros((3, 0), np.float32), "z": np.zeros((0, 5), np.float32)},
         np.zeros((3, 5), np.float32))
    case("sum", node("ReduceSum", "x,axes", keepdims=0), {"x": x},
         np.zeros((2, 3), np.float32), constants={"axes": i64(1)})
    case("softmax", node("Softmax", "x", axis=1), {"x": x}, x, opset=13)
    case("transpose", node("Transpose", "x", perm=[2, 0, 1]), {"x": x},
         np.zeros((3, 2, 0), np.float32))


@fault(12)
def suppression_of_its_true_size(add):
    boxes = f32((0, 0, 1, 1), (0, .1, 1, 1.1), (0, -.1, 1, .9), (0, 10, 1, 11),
                (0, 10.1, 1, 11.1), (0, 100, 1, 101))[None]
    scores = f32(.9, .75, .6, .95, .5, .3)[None, None]
    for label, least, y in (("three", 0, [(0, 0, 3), (0, 0, 0), (0, 0, 5)]),
                            ("none", 2, [])):
        made = model(node("NonMaxSuppression", "boxes,scores,max,iou,least"),
                     {"boxes": boxes, "scores": scores}, opset=11,
                     constants={"max": i64(3), "iou": f32(.5),
                                "least": f32(least)}, types={"y": np.int64})
        add.add(label, made, {"boxes": boxes, "scores": scores},
                {"y": np.array(y, np.int64).reshape(-1, 3)})


@fault(13)
def scatter_reductions_in_their_own_type(add):
    combine = {"add": np.add, "mul": np.multiply, "max": np.maximum,
               "min": np.minimum}
    x = np.array([2], np.int32)
    inputs = {"x": x, "updates": np.array([3], np.int32)}
    made = model(node("ScatterElements", "x,indices,updates", reduction="mul"),
                 inputs, constants={"indices": i64(0)}, types={"y": np.int32})
    add.add("two_by_three", made, inputs, {"y": np.array([6], np.int32)})
    indices = i64(0, -1, 2, 0, -5)
    for dtype in (np.int32, np.int64, np.uint8, np.float16, np.float32):
        x = np.array([7, 3, 9, 2, 11], dtype)
        updates = np.array([2, 5, 3, 4, 1], dtype)
        if dtype != np.uint8:
            x[1], updates[1] = -3, -5
        for name, function in combine.items():
            y = x.copy()
            function.at(y, indices, updates)
            inputs = {"x": x, "updates": updates}
            made = model(node("ScatterElements", "x,indices,updates",
                              reduction=name), inputs,
                         constants={"indices": indices}, types={"y": dtype})
            add.add(f"{name}_{np.dtype(dtype).name}", made, inputs, {"y": y})


@fault(14)
def gather_out_of_range(add):
    x = random(3, 4)
    for label, indices, rows in (("negative", i64(0, -3, -1), [0, 0, 2]),
                                 ("beyond", i64(0, 3), [0, None]),
                                 ("below", i64(-4, 1), [None, 1])):
        y = np.stack([np.zeros(4, np.float32) if r is None else x[r]
                      for r in rows])
        inputs = {"x": x, "indices": indices}
        add.add(label, model(node("Gather", "x,indices"), inputs), inputs,
                {"y": y})
    made = model(node("Gather", "x,indices"), {"x": x},
                 constants={"indices": i64(0, 3)})
    add.add("constant_beyond", made, {"x": x}, {}, refusal="3")


@fault(15)
def negative_pads(add):
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    made = model(node("Pad", "x,pads", mode="constant"), {"x": x}, opset=13,
                 constants={"pads": i64(0, 0, -1, -1, 0, 0, -1, 0)})
    add.add("crop", made, {"x": x}, {"y": x[:, :, 1:3, 1:]})
    # A crop and a reflection together: the crop comes first, and what is left
    # is mirrored, as numpy.pad does it; one element is its own mirror image.
    for size in (4, 64):
        x = np.arange(size, dtype=np.float32)
        made = model(node("Pad", "x,pads", mode="reflect"), {"x": x}, opset=13,
                     constants={"pads": i64(-(size - 1), size - 1)})
        add.add(f"reflect_{size}", made, {"x": x},
                {"y": np.pad(x[size - 1:], (0, size - 1), mode="reflect")})
    # onnxruntime accepts this one, and slices first as well.
    x = np.arange(6, dtype=np.float32)
    made = model(node("Pad", "x,pads", mode="wrap"), {"x": x}, opset=19,
                 constants={"pads": i64(-3, 4)})
    add.add("wrap", made, {"x": x}, {"y": f32(3, 4, 5, 3, 4, 5, 3)})


@fault(16)
def matmul_of_vectors(add):
    for label, left, right in (("3.3x1", (3,), (3, 1)), ("dot", (3,), (3,)),
                               ("2x5x3.3", (2, 5, 3), (3,)),
                               ("3.2x3x4", (3,), (2, 3, 4)),
                               ("batch", (1, 4, 3), (7, 3, 2)),
                               ("empty_batch", (0, 4, 3), (1, 3, 2))):
        x, w = random(*left), random(*right, seed=2)
        y = np.matmul(x.astype(np.float64), w)
        add.add(label, model(node("MatMul", "x,w"), {"x": x, "w": w}, opset=14),
                {"x": x, "w": w}, {"y": y}, 1e-6)
