# SPDX-License-Identifier: Apache-2.0
"""Models that dlc has to refuse, and the words of each refusal."""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, I64 = TensorProto.FLOAT, TensorProto.INT64


@dataclass
class BadModel:
    name: str
    write: Callable  # writes the model to a path
    words: list  # patterns that the message has to hold
    options: list = field(default_factory=list)


CASES = []


def case(name, words, options=()):
    """Adds a case whose model the function below makes: bytes or a proto."""
    def add(make):
        def write(path):
            made = make(path.parent)
            path.write_bytes(made if isinstance(made, bytes) else
                             made.SerializeToString())
        CASES.append(BadModel(name, write, list(words), list(options)))
        return make
    return add


def model(nodes, inputs=(("x", F32, [2, 3]),), outputs=(("y", F32, None),),
          constants=(), opset=17):
    graph = helper.make_graph(
        nodes, "bad", [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in outputs], list(constants))
    made = helper.make_model(graph,
                             opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 8
    return made


def node(operator, inputs, outputs, name="the_node", **attributes):
    return helper.make_node(operator, inputs, outputs, name=name, **attributes)


def constant(name, shape, dtype=np.float32):
    values = np.random.default_rng(3).standard_normal(shape).astype(dtype)
    return numpy_helper.from_array(values, name)


@case("not a protobuf", ["model.onnx", "not an ONNX model"])
def _(folder):
    return b"#!/bin/sh\necho this is no model\n" * 20


@case("empty file", ["model.onnx"])
def _(folder):
    return b""


@case("truncated", ["model.onnx", "truncated|protobuf|ends"])
def _(folder):
    good = model([node("MatMul", ["x", "w"], ["y"])],
                 constants=[constant("w", (3, 400))])
    return good.SerializeToString()[:-300]


@case("unknown operator", ["the_node", "Frobnicate", "17"])
def _(folder):
    return model([node("Frobnicate", ["x"], ["y"])])


@case("unknown domain", ["the_node", "com.example"])
def _(folder):
    made = model([node("Gelu", ["x"], ["y"], domain="com.example")])
    made.opset_import.append(helper.make_opsetid("com.example", 1))
    return made


@case("two blockers, both named", ["first_node", "Frobnicate", "second_node",
                                   "Wobble"])
def _(folder):
    return model([node("Frobnicate", ["x"], ["a"], name="first_node"),
                  node("Wobble", ["a"], ["y"], name="second_node")])


@case("attribute of a wrong type", ["the_node", "axis"])
def _(folder):
    return model([node("Softmax", ["x"], ["y"], axis="last")])


@case("unknown attribute", ["the_node", "sharpness"])
def _(folder):
    return model([node("Relu", ["x"], ["y"], sharpness=3)])


@case("attribute out of range", ["the_node", "axis"])
def _(folder):
    return model([node("Softmax", ["x"], ["y"], axis=5)])


@case("unsupported element type", ["STRING|string"])
def _(folder):
    return model([node("Identity", ["x"], ["y"])],
                 inputs=[("x", TensorProto.STRING, [2])],
                 outputs=[("y", TensorProto.STRING, [2])])


@case("element type that the operator does not take", ["the_node"])
def _(folder):
    return model([node("Erf", ["x"], ["y"])], inputs=[("x",
                 TensorProto.BOOL, [2])], outputs=[("y", TensorProto.BOOL,
                                                    None)])


@case("shape mismatch inside", ["the_node", "3", "4"])
def _(folder):
    return model([node("MatMul", ["x", "w"], ["y"])],
                 constants=[constant("w", (4, 5))])


@case("cyclic graph", ["cycl", "the_node|other_node"])
def _(folder):
    return model([node("Add", ["x", "b"], ["a"]),
                  node("Relu", ["a"], ["b"], name="other_node"),
                  node("Identity", ["b"], ["y"], name="last_node")])


@case("value that nothing makes", ["the_node", "missing_value"])
def _(folder):
    return model([node("Add", ["x", "missing_value"], ["y"])])


@case("value that two nodes make", ["y"])
def _(folder):
    return model([node("Relu", ["x"], ["y"]),
                  node("Neg", ["x"], ["y"], name="other_node")])


@case("too few inputs", ["the_node"])
def _(folder):
    return model([node("MatMul", ["x"], ["y"])])


def external(location, offset=0, length=48):
    tensor = TensorProto(name="w", data_type=F32, dims=[3, 4],
                         data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset)),
                       ("length", str(length))):
        tensor.external_data.add(key=key, value=value)
    return model([node("MatMul", ["x", "w"], ["y"])], constants=[tensor])


@case("missing external data", ["weights.bin"])
def _(folder):
    return external("weights.bin")


@case("external data that is too short", ["weights.bin"])
def _(folder):
    (folder / "weights.bin").write_bytes(b"\0" * 20)
    return external("weights.bin")


@case("external path outside the folder", ["outside|folder", "secret.bin"])
def _(folder):
    (folder.parent / "secret.bin").write_bytes(b"\0" * 48)
    return external("../secret.bin")


@case("absolute external path", ["/etc/passwd"])
def _(folder):
    return external("/etc/passwd", 0, 48)


@case("external link that leads out of the folder", ["link.bin"])
def _(folder):
    (folder.parent / "secret.bin").write_bytes(b"\0" * 48)
    (folder / "link.bin").symlink_to(folder.parent / "secret.bin")
    return external("link.bin")


@case("external offset that overflows", ["weights.bin|offset"])
def _(folder):
    (folder / "weights.bin").write_bytes(b"\0" * 48)
    return external("weights.bin", offset=2**64 - 8)


@case("constant with fewer bytes than its shape", ["w"])
def _(folder):
    tensor = TensorProto(name="w", data_type=F32, dims=[3, 4],
                         raw_data=b"\0" * 20)
    return model([node("MatMul", ["x", "w"], ["y"])], constants=[tensor])


@case("dimensions that overflow", ["x|overflow|too large"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])],
                 inputs=[("x", F32, [2**40, 2**40])])


@case("negative dimension", ["w|x"])
def _(folder):
    tensor = TensorProto(name="w", data_type=F32, dims=[3, -4],
                         raw_data=b"")
    return model([node("MatMul", ["x", "w"], ["y"])], constants=[tensor])


@case("reshape to another number of elements", ["the_node"])
def _(folder):
    return model([node("Reshape", ["x", "s"], ["y"])], constants=[
        numpy_helper.from_array(np.array([4, 2], np.int64), "s")])


@case("constant index out of range", ["the_node", "9"])
def _(folder):
    return model([node("Gather", ["x", "i"], ["y"], axis=1)], constants=[
        numpy_helper.from_array(np.array([0, 9], np.int64), "i")])


@case("opset too old", ["opset", "5|7"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])], opset=5)


@case("opset from the future", ["opset", "999"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])], opset=999)


@case("no graph outputs", ["output"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])], outputs=[])


@case("--shape of an unknown input", ["z", "x"], ["--shape=z=1x2"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])])


@case("--shape of another rank", ["x", "rank|dimensions|2"],
      ["--shape=x=1x2x3"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])])


@case("--shape that is no shape", ["3y"], ["--shape=x=2x3y"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])])


@case("--bind of an unknown input", ["z"], ["--bind=z=3"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])])


@case("unknown target", ["sm_12345"], ["--target=sm_12345"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])])


@case("unknown precision", ["fp17"], ["--precision=fp17"])
def _(folder):
    return model([node("Relu", ["x"], ["y"])])


@case("branches of If nested 2,000 deep", ["nest|deep|depth|protobuf"])
def _(folder):
    # Protobuf's own Python writer refuses that depth, so it is laid out by
    # hand: each level is a graph in an attribute of a node.
    def field_bytes(number, data):
        size, length = bytearray(), len(data)
        while length >= 128:
            size.append(length & 127 | 128)
            length >>= 7
        return bytes([number << 3 | 2]) + bytes([*size, length]) + data

    graph = field_bytes(1, node("Identity", ["x"], ["y"]).SerializeToString())
    graph += field_bytes(2, b"leaf")
    for _ in range(2000):
        # Field 20 of an attribute is its type, 5 a graph.
        attribute = (field_bytes(1, b"then_branch") + field_bytes(6, graph) +
                     bytes([0xa0, 0x01, 5]))
        inner = (field_bytes(1, b"c") + field_bytes(2, b"y") +
                 field_bytes(4, b"If") + field_bytes(5, attribute))
        graph = field_bytes(1, inner) + field_bytes(2, b"g")
    head = model([])
    head.ClearField("graph")
    return head.SerializeToString() + field_bytes(7, graph)
