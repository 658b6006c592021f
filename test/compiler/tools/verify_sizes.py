# SPDX-License-Identifier: Apache-2.0
"""Writes two models of open sizes; the second one's output is of another type.

usage: verify_sizes.py FILE
"""

import sys

import onnx
from onnx import TensorProto, helper


def write(path, op, element, **attributes):
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "r"], ["s"]),
         helper.make_node(op, ["s"], ["y"], **attributes)], "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 3])
         for name in "xr"],
        [helper.make_tensor_value_info("y", element, ["N", 3])])
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17)]), path)


write(sys.argv[1], "Relu", TensorProto.FLOAT)
write(sys.argv[1] + ".other", "Cast", TensorProto.DOUBLE,
      to=TensorProto.DOUBLE)
