# SPDX-License-Identifier: Apache-2.0
"""Writes three models of open sizes: one, one whose output is of another type,
and one of another rank.

usage: verify_sizes.py FILE
"""

import sys

import onnx
from onnx import TensorProto, helper


def write(path, op, element, shape=("N", 3), **attributes):
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "r"], ["s"]),
         helper.make_node(op, ["s"], ["y"], **attributes)], "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
         for name in "xr"],
        [helper.make_tensor_value_info("y", element, shape)])
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17)]), path)


write(sys.argv[1], "Relu", TensorProto.FLOAT)
write(sys.argv[1] + ".other", "Cast", TensorProto.DOUBLE,
      to=TensorProto.DOUBLE)
write(sys.argv[1] + ".deeper", "Relu", TensorProto.FLOAT, ("N", 3, 4))
