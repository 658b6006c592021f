# SPDX-License-Identifier: Apache-2.0
"""Operators on both sides of the opsets that changed their meaning or their
spelling, on random values, against onnxruntime.

usage: versions.py DLC-EVAL
"""

import sys

import numpy as np
import onnxruntime
from onnx import helper

from onnx_cases import (BOOL, F32, I64, constant, evaluate, finish, graph,
                        model, node)

random = np.random.default_rng(7)
CASES = []


def real(*shape):
    return random.standard_normal(shape).astype("f4")


def case(opsets, nodes, inputs, constants=(), options=(), declared=None,
         outputs="y"):
    """`inputs`: arrays by name. `declared`: shapes that are not the arrays'."""
    for opset in opsets:
        CASES.append((opset, nodes, inputs, constants, options, declared or {},
                      outputs))


X = real(2, 3, 4)
image = real(2, 3, 7, 8)

# Softmax and its kin flatten up to 12, work along one axis from 13.
for operator in ("Softmax", "LogSoftmax", "Hardmax"):
    case([11, 12, 13], node(operator, "x"), {"x": X})
    for axis in (0, 1, 2, -1):
        case([12, 13], node(operator, "x", axis=axis), {"x": X})

# Clip: bounds are attributes, then inputs.
case([7, 10], node("Clip", "x", min=-0.5, max=0.25), {"x": X})
case([7, 10], node("Clip", "x", max=0.25), {"x": X})
case([11, 13], node("Clip", "x lo hi"), {"x": X},
     [constant("lo", -0.5, "f4"), constant("hi", 0.25, "f4")])
case([11, 13], node("Clip", "x  hi"), {"x": X}, [constant("hi", 0.25, "f4")])
case([12], node("Clip", "x lo hi"), {"x": np.arange(-5, 5)},
     [constant("lo", -2, "i8"), constant("hi", 3, "i8")])

# Slice: attributes, then inputs, with steps and negative ones.
case([9], node("Slice", "x", starts=[-2, 1], ends=[9999, -1], axes=[1, 2]),
     {"x": X})
for starts, ends, steps in (([-2, 1], [2**63 - 1, -1], [1, 2]),
                            ([-1, 5], [-2**63, 0], [-1, -2]),
                            ([2, 3], [0, 0], [-1, -1]), ([1, 2], [1, 1], [1, 1])):
    case([10, 13], node("Slice", "x a b c d"), {"x": X},
         [constant("a", starts, "i8"), constant("b", ends, "i8"),
          constant("c", [1, -1], "i8"), constant("d", steps, "i8")])

# Pad, with another mode and other axes later.
case([10], node("Pad", "x", pads=[0, 1, 2, 1, 0, 1], value=1.5), {"x": X})
for mode in ("constant", "reflect", "edge"):
    case([11, 13, 18], node("Pad", "x p v", mode=mode), {"x": X},
         [constant("p", [0, 1, 2, 1, 0, 1], "i8"), constant("v", 1.5, "f4")])
case([11], node("Pad", "x p"), {"x": X},
     [constant("p", [0, -1, 2, 1, 0, -1], "i8")])
case([18], node("Pad", "x p  a"), {"x": X},
     [constant("p", [1, 2, 0, 1], "i8"), constant("a", [-1, 0], "i8")])
case([19], node("Pad", "x p", mode="wrap"), {"x": X},
     [constant("p", [0, 1, 2, 1, 0, 1], "i8")])

# Axes as attributes, then as inputs.
for operator in ("Squeeze", "Unsqueeze"):
    values = {"x": real(1, 3, 1, 2)}
    case([7, 12], node(operator, "x", axes=[0, 2]), values)
    case([13], node(operator, "x a"), values, [constant("a", [0, -2], "i8")])
case([11, 13], node("Squeeze", "x"), {"x": real(1, 3, 1)})
for operator, step in (("ReduceSum", 13), ("ReduceMean", 18), ("ReduceMax", 18),
                       ("ReduceMin", 18), ("ReduceProd", 18), ("ReduceL1", 18),
                       ("ReduceL2", 18), ("ReduceSumSquare", 18),
                       ("ReduceLogSumExp", 18)):
    case([7, step - 1], node(operator, "x", axes=[-1, 0], keepdims=0), {"x": X})
    case([7, step - 1, step], node(operator, "x"), {"x": X})
    axes = [constant("a", [-1, 0], "i8")]
    case([step], node(operator, "x a", keepdims=0), {"x": X}, axes)
    none = [constant("a", [], "i8")]
    for noop in (0, 1):
        case([step], node(operator, "x a", noop_with_empty_axes=noop),
             {"x": X}, none)

# Split: sizes as attribute, input, number of parts.
for opset, made, more in (
        (11, node("Split", "x", "y z", axis=1, split=[1, 2]), []),
        (11, node("Split", "x", "y z", axis=-1), []),
        (13, node("Split", "x s", "y z", axis=1), [constant("s", [1, 2], "i8")]),
        (18, node("Split", "x", "y z", axis=1, num_outputs=2), [])):
    case([opset], made, {"x": X}, more, outputs="y z")

# Operators that gained inputs, outputs or attributes.
case([9], node("TopK", "x", "y i", axis=1, k=2), {"x": X}, outputs="y i")
case([10], node("TopK", "x k", "y i", axis=1), {"x": X},
     [constant("k", [2], "i8")], outputs="y i")
case([11], node("TopK", "x k", "y i", axis=1, largest=0), {"x": X},
     [constant("k", [2], "i8")], outputs="y i")
case([7, 9], node("Gemm", "a b c", alpha=0.5, beta=2.0, transB=1),
     {"a": real(2, 3), "b": real(4, 3), "c": real(4)})
case([11], node("Gemm", "a b", transA=1), {"a": real(3, 2), "b": real(3, 4)})
case([9], node("Scatter", "x i u", axis=1),
     {"x": real(2, 3), "i": np.array([[2], [0]]), "u": real(2, 1)})
for reduction in ("none", "add", "mul"):
    case([16, 18], node("ScatterElements", "x i u", axis=1, reduction=reduction),
         {"x": real(2, 3), "i": np.array([[2], [-3]]), "u": real(2, 1)})
case([11], node("ScatterElements", "x i u", axis=-1),
     {"x": real(2, 3), "i": np.array([[2, 1], [0, 2]]), "u": real(2, 2)})
case([12], node("GatherND", "x i", batch_dims=1),
     {"x": X, "i": np.array([[1], [-1]])})
case([11], node("ArgMax", "x", axis=1), {"x": np.round(X)})
case([12], node("ArgMax", "x", axis=1, select_last_index=1, keepdims=0),
     {"x": np.round(X)})
case([13, 14], node("Reshape", "x s"), {"x": X}, [constant("s", [0, -1], "i8")])
case([14], node("Reshape", "x s", allowzero=1), {"x": real(0, 3)},
     [constant("s", [3, 0], "i8")])
case([13, 15], node("Shape", "x"), {"x": X})
case([15], node("Shape", "x", start=-2, end=9), {"x": X})
case([7, 9, 14], node("BatchNormalization", "x s b m v", epsilon=0.01),
     {"x": image, "s": real(3), "b": real(3), "m": real(3),
      "v": np.abs(real(3)) + 0.1})
case([7, 10, 12], node("Dropout", "x"), {"x": X})
case([17], node("LayerNormalization", "x s b", "y m d", axis=1),
     {"x": X, "s": real(3, 4), "b": real(3, 4)}, outputs="y m d")
case([13, 16], node("Identity", "x"), {"x": X})

# Windows.
pools = dict(kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1])
case([7, 9, 10, 11], node("AveragePool", "x", **pools), {"x": image})
case([7, 11, 19], node("AveragePool", "x", count_include_pad=1, **pools),
     {"x": image})
case([10, 19], node("AveragePool", "x", ceil_mode=1, **pools), {"x": image})
case([19], node("AveragePool", "x", dilations=[2, 1], **pools), {"x": image})
case([8, 10, 12], node("MaxPool", "x", **pools), {"x": image})
case([10, 12], node("MaxPool", "x", ceil_mode=1, dilations=[2, 1], **pools),
     {"x": image})
for pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
    case([11], node("MaxPool", "x", kernel_shape=[3, 3], strides=[2, 2],
                    auto_pad=pad), {"x": image})
    case([11], node("Conv", "x w", strides=[2, 2], auto_pad=pad),
         {"x": image, "w": real(4, 3, 3, 2)})
case([11], node("Conv", "x w b", group=3, dilations=[2, 1], pads=[2, 1, 0, 1]),
     {"x": image, "w": real(6, 1, 3, 2), "b": real(6)})
case([11], node("ConvTranspose", "x w b", strides=[2, 3], pads=[1, 0, 2, 1],
                output_padding=[1, 0], dilations=[1, 2]),
     {"x": image, "w": real(3, 2, 3, 2), "b": real(2)})
case([11], node("ConvTranspose", "x w", group=3, strides=[2, 2],
                auto_pad="SAME_UPPER"), {"x": image, "w": real(3, 2, 3, 3)})
case([11], node("ConvTranspose", "x w", strides=[2, 2], output_shape=[15, 17]),
     {"x": image, "w": real(3, 2, 3, 3)})

# Resizing.
# Sizes that the scales keep whole: onnxruntime rounds before it aligns corners.
small = real(1, 2, 4, 6)
scales = [constant("s", [1, 1, 2, 1.5], "f4")]
sizes = [constant("z", [1, 2, 7, 3], "i8")]
for mode in ("nearest", "linear"):
    case([9], node("Upsample", "x s", mode=mode), {"x": small}, scales)
    case([10], node("Resize", "x s", mode=mode), {"x": small}, scales)
case([7], node("Upsample", "x", mode="nearest", scales=[1.0, 1, 2, 3]),
     {"x": small})
for mode in ("nearest", "linear", "cubic"):
    for how in ("half_pixel", "align_corners", "asymmetric",
                "pytorch_half_pixel"):
        made = dict(mode=mode, coordinate_transformation_mode=how)
        case([11], node("Resize", "x r s", **made), {"x": small},
             scales + [constant("r", [], "f4")])
        case([13, 19], node("Resize", "x   z", **made), {"x": small}, sizes)
case([18], node("Resize", "x   z", mode="linear", axes=[3, 2],
                keep_aspect_ratio_policy="not_larger"), {"x": small},
     [constant("z", [9, 9], "i8")])

# Shapes that are only known at run time.
dynamic = {"x": ["N", 3, "W"]}
case([17], [node("Shape", "x", "s", "shape"), node("Gather", "s i", "n", "pick"),
            node("Unsqueeze", "n i0", "n1", "up"),
            node("Concat", "n1 rest", "t", "join", axis=0),
            node("Reshape", "x t", "y", "last")], {"x": X},
     [constant("i", 0, "i8"), constant("i0", [0], "i8"),
      constant("rest", [-1], "i8")], declared=dynamic)
case([17], [node("Shape", "x", "s", "shape"),
            node("ConstantOfShape", "s", "z", "zeros"),
            node("Add", "x z", "y", "last")], {"x": X}, declared=dynamic)
case([17], node("Slice", "x a b c"), {"x": X},
     [constant("a", [-2], "i8"), constant("b", [2**63 - 1], "i8"),
      constant("c", [2], "i8")], declared=dynamic)
case([17], node("MaxPool", "x", kernel_shape=[3], strides=[2],
                auto_pad="SAME_UPPER"), {"x": X}, declared=dynamic)
case([17], node("Conv", "x w", strides=[2], auto_pad="SAME_LOWER"),
     {"x": X, "w": real(2, 3, 3)}, declared=dynamic)
case([17], node("MaxPool", "x", kernel_shape=[3], strides=[2], ceil_mode=1),
     {"x": X}, declared=dynamic)

# What onnxruntime's optimiser writes.
fused = [constant(name, real(*shape), "f4") for name, shape in (
    ("skip", (2, 3, 4)), ("g", (4,)), ("b", (4,)), ("c", (4,)),
    ("m", (4, 5)))]
for made, outputs in (
        (node("SkipLayerNormalization", "x skip g b c", "y  s"), "y s"),
        (node("SkipSimplifiedLayerNormalization", "x skip g", "y"), "y"),
        (node("BiasGelu", "x b"), "y"), (node("FastGelu", "x b"), "y"),
        (node("QuickGelu", "x", alpha=1.5), "y"), (node("Gelu", "x"), "y"),
        (node("FusedMatMul", "x m", alpha=0.5), "y")):
    made.domain = "com.microsoft"
    if outputs == "y s":
        made.output[:] = ["y", "", "", "s"]
    case([17], made, {"x": X}, fused, outputs=outputs)
made = node("FusedConv", "x w b", pads=[1, 1, 1, 1], activation="LeakyRelu",
            activation_params=[0.125])
made.domain = "com.microsoft"
case([17], made, {"x": image, "w": real(4, 3, 3, 3), "b": real(4)})

# Subgraphs.
branches = dict(
    then_branch=graph([node("Mul", "x k", "a", "mul"),
                       node("Add", "a x", "t", "add")], "t"),
    else_branch=graph([node("Sub", "x q", "t", "sub")], "t"))
for taken in (True, False):
    case([11, 16], [node("Neg", "x", "q", "neg"), node("If", "c", **branches)],
         {"x": X, "c": np.array(taken)}, [constant("k", 2.5, "f4")])
    case([13], [node("Neg", "x", "q", "neg"), node("If", "c", **branches)],
         {"x": X}, [constant("k", 2.5, "f4"), constant("c", taken, "?")])
loop = graph([node("Add", "v x", "w", "add"), node("Identity", "go", "on", "id"),
              node("Mul", "w w", "square", "mul")], "on w square",
             [("i", I64, []), ("go", BOOL, []), ("v", F32, [2, 3, 4])], "body")
for trips in (1, 3):
    case([11, 16], node("Loop", "n c x", "y all", body=loop), {"x": X},
         [constant("n", trips, "i8"), constant("c", True, "?")],
         outputs="y all")


def expected(made, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = (
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(made.SerializeToString(), options,
                                           ["CPUExecutionProvider"])
    return session.run(None, inputs)


def judge(tool, entry):
    """What is wrong with one case; nothing if all is well."""
    opset, nodes, inputs, constants, options, declared, outputs = entry
    made = model(nodes, [
        (name, helper.np_dtype_to_tensor_dtype(values.dtype),
         declared.get(name, list(values.shape)))
        for name, values in inputs.items()], outputs, constants, opset, ["com.microsoft"])
    try:
        right = expected(made, inputs)
    except Exception as fault:  # the case itself is at fault
        return f"onnxruntime: {fault}"
    taken, found, said = evaluate(tool, made, inputs, options)
    if not taken:
        return said
    for name, values in zip(outputs.split(), right):
        got = found.get(name)
        if got is None or got.shape != values.shape or got.dtype != values.dtype:
            return f"{name} has another type or shape"
        if not np.allclose(got, values, 1e-5, 1e-5, equal_nan=True):
            return f"{name} differs: {got.ravel()[:6]}, {values.ravel()[:6]}"
    return ""


def main():
    failures = []
    for entry in CASES:
        problem = judge(sys.argv[1], entry)
        if problem:
            nodes = entry[1] if isinstance(entry[1], list) else [entry[1]]
            failures.append(f"opset {entry[0]}: {nodes[-1]}\n{problem}")
    finish(failures, len(CASES))


if __name__ == "__main__":
    main()
