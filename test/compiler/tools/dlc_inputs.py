# SPDX-License-Identifier: Apache-2.0
"""Writes a model with an input that has a value, whose output is declared with
another shape, and as FILE.rank one of too high a rank.

usage: dlc_inputs.py FILE
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def info(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def write(path, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17)]), path)


w = np.random.default_rng(1).standard_normal((2, 3)).astype(np.float32)
write(sys.argv[1], [helper.make_node("Add", ["x", "w"], ["y"])],
      [info("x", [2, 3]), info("w", ["N", 3])], [info("y", [2, 4])],
      [numpy_helper.from_array(w, "w")])
high = [1] * 16 + [2]
write(sys.argv[1] + ".rank", [helper.make_node("Relu", ["x"], ["y"])],
      [info("x", high)], [info("y", high)])
