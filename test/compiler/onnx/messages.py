# SPDX-License-Identifier: Apache-2.0
"""Models that cannot be imported, and every word of what is said about them.

usage: messages.py DLC-EVAL [show]
"""

import sys

from onnx_cases import (BOOL, F32, I64, TensorProto, constant, evaluate,
                        finish, graph, helper, model, node)

# name, model (a proto or bytes), lines that are said, and more for evaluate()
CASES = []


def case(name, made, said, **more):
    CASES.append((name, made, said, more))


def with_external(location, **entries):
    tensor = TensorProto(name="w", data_type=F32, dims=[2, 3],
                         data_location=TensorProto.EXTERNAL)
    for key, value in dict(location=location, **entries).items():
        tensor.external_data.add(key=key, value=str(value))
    return model(node("Add", "x w"), constants=[tensor])


def truncated():
    good = model(node("Add", "x w"), constants=[constant(
        "w", [[1.5, 2, 3], [4, 5, 6.25]], "f4")]).SerializeToString()
    return good[:-12]


# The file ---------------------------------------------------------------------
case("text", b"#!/bin/sh\necho no model\n" * 9, """
m.onnx: not an ONNX model, or a damaged one: byte 0 starts a field of wire type 3
""")
case("empty", b"", """
m.onnx: is empty, expected an ONNX model
""")
case("truncated", truncated(), """
m.onnx: not an ONNX model, or a damaged one: truncated: the field at byte 2 needs 87 bytes, 81 are left
""")
case("no graph", b"\x08\x08", """
m.onnx: not an ONNX model: it holds no graph
""")

# Versions ---------------------------------------------------------------------
case("old opset", model(node("Relu", "x"), opset=6), """
the model uses opset 6 of ai.onnx, supported are 7 to 28
""")
case("future opset", model(node("Relu", "x"), opset=99), """
the model uses opset 99 of ai.onnx, supported are 7 to 28
""")
case("no opset", model(node("Relu", "x"), opset=0), """
the model names no opset of ai.onnx, supported are 7 to 28
""")
case("operator before its time", model(node("Gelu", "x"), opset=19), """
node "n" (Gelu): operator Gelu is not part of ai.onnx opset 19: it exists from opset 20 on
""")
case("operator after its time", model(node("Upsample", "x s", mode="nearest"),
     constants=[constant("s", [1, 2], "f4")], opset=10), """
node "n" (Upsample): operator Upsample is not part of ai.onnx opset 10: from opset 10 on it is Resize
""")
case("attribute of a later version", model(
    node("MaxPool", "x", kernel_shape=[2], ceil_mode=1),
    [("x", F32, [1, 1, 8])], opset=9), """
node "n" (MaxPool): attribute "ceil_mode" is not supported: MaxPool of opset 9 has storage_order, kernel_shape, strides, pads
""")
case("input of a later version", model(
    node("ReduceMax", "x a"), constants=[constant("a", [0], "i8")],
    opset=13), """
node "n" (ReduceMax): has 2 inputs, expected 1 at opset 13
""")

# Nodes ------------------------------------------------------------------------
case("unknown operators, all of them", model([
    node("Frobnicate", "x", "a", "one"), node("Relu", "a", "b", "two"),
    node("Wobble", "x", "c", "three"), node("Add", "b c", "y", "four")]), """
node "one" (Frobnicate): operator Frobnicate of ai.onnx opset 17 is not supported
node "three" (Wobble): operator Wobble of ai.onnx opset 17 is not supported
""")
case("unknown domain", model(node("Gelu", "x", domain="com.example"),
                             domains=["com.example"]), """
node "n" (Gelu): operator Gelu of domain com.example is not supported: supported are those of ai.onnx and of com.microsoft
""")
case("domain without a version", model(
    node("Gelu", "x", domain="com.microsoft")), """
node "n" (Gelu): its domain "com.microsoft" has no version: the model's opset_import does not list it
""")
case("no name", model(node("Frobnicate", "x", name="")), """
node "y" (Frobnicate): operator Frobnicate of ai.onnx opset 17 is not supported
""")
case("wrong attribute type", model(node("Softmax", "x", axis="last")), """
node "n" (Softmax): attribute "axis" has type STRING, expected INT
""")
case("unknown attribute", model(node("Softmax", "x", sharpness=3)), """
node "n" (Softmax): attribute "sharpness" is not supported: Softmax of opset 17 has axis
""")
case("attribute where there is none", model(node("Relu", "x", slope=3.5)), """
node "n" (Relu): attribute "slope" is not supported: Relu of opset 17 has none
""")
case("axis out of range", model(node("Softmax", "x", axis=2)), """
node "n" (Softmax): attribute "axis" is 2, expected -2 to 1
""")
case("word out of range", model(
    node("Resize", "x  s", mode="bicubic"),
    constants=[constant("s", [1, 2], "f4")]), """
node "n" (Resize): attribute "mode" is "bicubic", supported are nearest, linear, cubic
""")
case("too many inputs", model(node("Relu", "x x")), """
node "n" (Relu): has 2 inputs, expected 1 at opset 17
""")
case("too few inputs", model(node("MatMul", "x")), """
node "n" (MatMul): input 1 is missing, expected 2 inputs at opset 17
""")
case("missing attribute", model(node("Concat", "x x")), """
node "n" (Concat): attribute "axis" is missing
""")
case("result that is not made", model(
    node("BatchNormalization", "x s s s s", "y m"), [("x", F32, [1, 2, 8])],
    "y m", constants=[constant("s", [1, 2], "f4")], opset=9), """
node "n" (BatchNormalization): output 1 ("m") is not supported
""")
case("sequence as a tensor", model(
    [node("SequenceConstruct", "x x", "s"), node("Neg", "s", "y", "m")]), """
node "m" (Neg): input 0 is a sequence, expected a tensor
""")
case("sequence as an output", model(node("SequenceConstruct", "x x")), """
output "y" is a sequence, supported are tensors
""")

# Names ------------------------------------------------------------------------
case("nothing produces an input", model(node("Add", "x z")), """
node "n" (Add): nothing produces its input "z"
""")
case("nothing produces an output", model(node("Relu", "x", "z")), """
nothing produces the output "y"
""")
case("produced twice", model([node("Relu", "x", name="a"),
                              node("Neg", "x", name="b")]), """
node "b" (Neg): the name "y" is produced twice, also by node "a" (Relu)
""")
case("initialisers of one name", model(
    node("Add", "x w"),
    constants=[constant("w", [1.5], "f4"), constant("w", [2.5], "f4")]), """
initializer "w" is defined twice
""")
case("cycle", model([node("Add", "x b", "a", "one"),
                     node("Relu", "a", "b", "two"),
                     node("Neg", "b", name="three")]), """
node "one" (Add): the graph has a cycle: node "one" (Add), node "two" (Relu), and again node "one" (Add)
""")
case("cycle of one", model(node("Add", "x y")), """
node "n" (Add): the graph has a cycle: node "n" (Add), and again node "n" (Add)
""")

# Types and shapes -------------------------------------------------------------
case("shapes that do not fit", model(
    node("Add", "x w"), constants=[constant("w", [1, 2, 3, 4], "f4")]), """
node "n" (Add): add: shapes 2x3 and 4 cannot be broadcast
""")
case("matrices that do not fit", model(
    node("MatMul", "x w"), constants=[constant("w", [[1, 2]], "f4")]), """
node "n" (MatMul): matmul: inner dimensions must agree, found 3 and 1
""")
case("channels", model(
    node("Conv", "x w", "y", "conv_3", group=3),
    [("x", F32, [1, 64, 8, 8]), ("w", F32, [6, 64, 3, 3])]), """
node "conv_3" (Conv): input has 64 channels, expected 192: filter tensor<6x64x3x3xf32> in 3 groups
""")
case("filters and groups", model(
    node("Conv", "x w", group=4),
    [("x", F32, [1, 8, 8]), ("w", F32, [6, 2, 3])]), """
node "n" (Conv): group is 4, expected a divisor of the 6 filters
""")
case("pads", model(node("Conv", "x w", pads=[1, 1, 1]),
                   [("x", F32, [1, 2, 8, 8]), ("w", F32, [6, 2, 3, 3])]), """
node "n" (Conv): attribute "pads" has 3 values, expected 4
""")
case("element types", model(node("Add", "x w"),
                            constants=[constant("w", [1, 2, 3], "i8")]), """
node "n" (Add): add: operands must have one element type, found f32 and i64
""")
case("an element type it does not take", model(
    node("Sqrt", "x"), [("x", I64, [2])]), """
node "n" (Sqrt): sqrt: input must be a floating-point tensor, found tensor<2xi64>
""")
case("strings", model(node("Identity", "x"),
                      [("x", TensorProto.STRING, [2])]), """
input "x": element type STRING is not supported: supported are FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, BOOL, FLOAT16, DOUBLE, UINT32, UINT64, BFLOAT16, FLOAT8E4M3FN, FLOAT8E5M2, UINT4, INT4
""")
case("reshape", model(node("Reshape", "x s"),
                      constants=[constant("s", [4, 2], "i8")]), """
node "n" (Reshape): reshape: 2x3 has 6 elements, 4x2 has 8
""")
case("reshape with a rest", model(
    node("Reshape", "x s"), constants=[constant("s", [4, -1], "i8")]), """
node "n" (Reshape): shape [4, -1] does not divide the input tensor<2x3xf32>
""")
case("index out of range", model(
    node("Gather", "x i", axis=1), constants=[constant("i", [0, 9], "i8")]), """
node "n" (Gather): index 9 is out of range for a dimension of 3
""")
case("slice of step 0", model(
    node("Slice", "x a b c d"), constants=[
        constant("a", [0], "i8"), constant("b", [2], "i8"),
        constant("c", [0], "i8"), constant("d", [0], "i8")]), """
node "n" (Slice): a step is 0
""")
case("input dimensions overflow", model(
    node("Relu", "x"), [("x", F32, [2**40, 2**40])]), """
input "x": its dimensions overflow: tensor<1099511627776x1099511627776xf32>
""")
case("stride without end", model(
    node("Conv", "x w", strides=[2**63 - 1]), [("x", F32, [1, 1, 8])],
    constants=[constant("w", [[[1, 2]]], "f4")]), """
node "n" (Conv): attribute "strides" holds 9223372036854775807, expected 1 to 2147483648
""")
case("pads without end", model(
    node("Conv", "x w", pads=[0, 2**62]), [("x", F32, [1, 1, 8])],
    constants=[constant("w", [[[1, 2]]], "f4")]), """
node "n" (Conv): attribute "pads" holds 4611686018427387904, expected 0 to 2147483648
""")
case("part of a negative size", model(
    node("Split", "x s", "y z"), [("x", F32, [4])],
    constants=[constant("s", [5, -1], "i8")], outputs="y z"), """
node "n" (Split): split holds -1, expected 0 or more
""")
case("negative depth", model(
    node("OneHot", "x d v"), [("x", I64, [4])],
    constants=[constant("d", -3, "i8"), constant("v", [0, 1], "f4")]), """
node "n" (OneHot): depth is -3, expected 1 or more
""")
case("huge depth", model(
    node("OneHot", "x d v"), [("x", I64, [4])],
    constants=[constant("d", 2**62, "i8"), constant("v", [0, 1], "f4")]), """
node "n" (OneHot): its result has more than 2^60 elements: tensor<1x4611686018427387904xi64>
""")
case("dimensions overflow inside", model(
    node("Expand", "x s"), constants=[
        constant("s", [2**30, 2**30, 2, 3], "i8")]), """
node "n" (Expand): its result has more than 2^60 elements: tensor<1073741824x1073741824x2x3xf32>
""")
case("tensor data", model(node("Add", "x w"), constants=[TensorProto(
    name="w", data_type=F32, dims=[2, 3], raw_data=b"123")]), """
initializer "w": its data has 3 bytes, its type tensor<2x3xf32> needs 24
""")
case("negative size", model(node("Add", "x w"), constants=[TensorProto(
    name="w", data_type=F32, dims=[2, -3], raw_data=b"123")]), """
initializer "w": dimension -3 is negative
""")
case("tensor dimensions overflow", model(node("Add", "x w"), constants=[
    TensorProto(name="w", data_type=F32, dims=[2**40, 2**40])]), """
initializer "w": dimensions overflow: their product exceeds 2^60
""")
case("a type of the future", model(node("Add", "x w"), constants=[
    TensorProto(name="w", data_type=77, dims=[2, 3])]), """
initializer "w": element type 77 is not supported: supported are FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, BOOL, FLOAT16, DOUBLE, UINT32, UINT64, BFLOAT16, FLOAT8E4M3FN, FLOAT8E5M2, UINT4, INT4
""")

# Data-dependent sizes ---------------------------------------------------------
case("shape from data", model(
    node("Reshape", "x s"), [("x", F32, [2, 3]), ("s", I64, [2])]), """
node "n" (Reshape): input 1 (shape) must be known at compile time: it is computed from the values of input "s", which are only known at run time, unless --bind makes it a constant
""")
case("shape from data, some steps away", model(
    [node("Add", "s one", "t", "plus"), node("Reshape", "x t", "y", "r")],
    [("x", F32, [2, 3]), ("s", I64, [2])],
    constants=[constant("one", [1, 1], "i8")]), """
node "r" (Reshape): input 1 (shape) must be known at compile time: it is computed from the values of input "s", which are only known at run time, unless --bind makes it a constant
""")
case("no shape at all", model(node("Relu", "x"), [("x", F32, None)]), """
input "x": has no shape in the model, not even a rank: say it with --shape x=1x3x224x224
""")
case("squeeze what may be 1", model(
    node("Squeeze", "x"), [("x", F32, ["N", 1])]), """
node "n" (Squeeze): has no axes, and whether dimension "N" is 1 cannot be told: fix it with --shape
""")

# Subgraphs --------------------------------------------------------------------
case("inside a branch", model(
    node("If", "c", then_branch=graph([node("Wobble", "x", "a", "deep")], "a"),
         else_branch=graph([node("Relu", "x", "a", "other")], "a")),
    [("x", F32, [2, 3]), ("c", BOOL, [])]), """
node "deep" (Wobble): operator Wobble of ai.onnx opset 17 is not supported
""")
case("branches of two types", model(
    node("If", "c", then_branch=graph([node("Relu", "x", "a", "one")], "a"),
         else_branch=graph([node("Shape", "x", "a", "other")], "a")),
    [("x", F32, [2, 3]), ("c", BOOL, [])]), """
node "n" (If): output 0 is tensor<2x3xf32> in one branch and tensor<2xi64> in the other, expected one element type; which one is taken is not known at compile time: it is computed from the values of input "c", which are only known at run time, unless --bind makes it a constant
""")
case("branches of two ranks", model([
    node("Size", "x", "size"), node("Less", "size six", "c"),
    node("If", "c", then_branch=graph([node("Relu", "x", "a", "one")], "a"),
         else_branch=graph([node("Flatten", "x", "b", "flat", axis=0),
                            node("Squeeze", "b zero", "a", "other")], "a"))],
    [("x", F32, ["K", 3])], constants=[
        constant("six", 6, "i8"), constant("zero", [0], "i8")]), """
node "n" (If): output 0 is tensor<"K"x3xf32> in one branch and tensor<(3*"K")xf32> in the other, expected one rank; fixed sizes of input "x", with --shape, decide which one is taken
""")
case("inside a function", model(
    node("Twice", "x", "y", "call", domain="here"), domains=["here"],
    functions=[helper.make_function(
        "here", "Twice", ["a"], ["b"], [node("Wobble", "a", "b", "deep")],
        [helper.make_opsetid("", 17)])]), """
node "deep" (Wobble): operator Wobble of ai.onnx opset 17 is not supported
""")

case("functions that call each other without end", model(
    node("F0", "x", "y", "call", domain="here"), domains=["here"],
    functions=[helper.make_function(
        "here", f"F{i}", ["a"], ["d"],
        [node(f"F{i + 1}", "a", "b", "left", domain="here"),
         node(f"F{i + 1}", "b", "d", "right", domain="here")]
        if i < 40 else [node("Neg", "a", "d", "neg")],
        [helper.make_opsetid("", 17), helper.make_opsetid("here", 1)])
        for i in range(41)]), """
node "neg" (Neg): written out, its functions and loops have more than 1000000 nodes
""")
case("an input left out among many", model(node("Max", "x  x")), """
node "n" (Max): input 1 is missing
""")

# External data ----------------------------------------------------------------
case("missing file", with_external("w.bin"), """
initializer "w": external data file "w.bin" cannot be read: No such file or directory
""")
case("short file", with_external("w.bin", offset=4, length=24), """
initializer "w": external data file "w.bin" has 24 bytes, expected 24 at offset 4
""", prepare=lambda p: (p / "w.bin").write_bytes(b"0" * 24))
case("wrong length", with_external("w.bin", length=20), """
initializer "w": external data: length is 20, its type needs 24 bytes
""", prepare=lambda p: (p / "w.bin").write_bytes(b"0" * 24))
case("no number", with_external("w.bin", offset="far"), """
initializer "w": external data: offset is "far", expected a number
""", prepare=lambda p: (p / "w.bin").write_bytes(b"0" * 24))
case("up the tree", with_external("../w.bin"), """
initializer "w": external data file "../w.bin" is refused: expected a path inside the model's folder
""", prepare=lambda p: (p.parent / "w.bin").write_bytes(b"0" * 24))
case("absolute", with_external("/etc/passwd"), """
initializer "w": external data file "/etc/passwd" is refused: expected a path inside the model's folder
""")
case("link", with_external("w.bin"), """
initializer "w": external data file "w.bin" is refused: it is a link that leaves the model's folder
""", prepare=lambda p: ((p.parent / "w.bin").write_bytes(b"0" * 24),
                        (p / "w.bin").symlink_to(p.parent / "w.bin")))

# Options ----------------------------------------------------------------------
case("shape of no input", model(node("Relu", "x")), """
--bind w: the model has no such input; its inputs are x
--shape z: the model has no such input; its inputs are x
""", options=["--shape=z=1x2", "--bind=w=3"])
case("shape of another rank", model(node("Relu", "x")), """
input "x": has 2 dimensions in the model, --shape gives 3
""", options=["--shape=x=1x2x3"])
case("scalar", model(node("Relu", "x")), """
input "x": has 2 dimensions in the model, --shape gives 0
""", options=["--shape=x=scalar"])
case("two sizes for one name", model(
    node("Add", "x w"), [("x", F32, ["N", 3]), ("w", F32, ["N", 3])]), """
--shape w: the model's dimension "N" is 4 here and 2 elsewhere
""", options=["--shape=x=2x3", "--shape=w=4x3"])
case("bound to too many values", model(node("Relu", "x")), """
input "x": --bind gives 2 values, tensor<2x3xf32> needs 1 or 6
""", options=["--bind=x=1,2"])
case("bound to a word", model(node("Relu", "x")), """
input "x": --bind gives "fast", expected a value of type f32
""", options=["--bind=x=fast"])
case("no dimension", model(node("Relu", "x")), """
--shape x=2x-3: got dimension "-3", expected a number, a range such as 1..8, or a name
""", options=["--shape=x=2x-3"])


def main():
    tool, failures = sys.argv[1], []
    for name, made, expected, more in CASES:
        taken, _, said = evaluate(tool, made, **more)
        said = "\n".join(line.removeprefix("error: ")
                         for line in said.splitlines())
        if sys.argv[2:] == ["show"]:
            print(f"{name}\n    " + said.replace("\n", "\n    "))
        elif taken or said != expected.strip():
            failures.append(f"{name}: expected\n{expected.strip()}\ngot\n" +
                            ("success" if taken else said))
    finish(failures, len(CASES))


if __name__ == "__main__":
    main()
