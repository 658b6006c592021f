# SPDX-License-Identifier: Apache-2.0
"""Writes the model of verify-ill.test: sin(300 x w), which turns what bf16
cannot tell apart into any number.

usage: verify_ill.py FILE
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

w = np.random.default_rng(5).standard_normal((16, 8)).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["m"]),
     helper.make_node("Mul", ["m", "k"], ["s"]),
     helper.make_node("Sin", ["s"], ["y"])], "ill",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8])],
    [numpy_helper.from_array(w, "w"),
     numpy_helper.from_array(np.float32(300), "k")])
onnx.save(helper.make_model(
    graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
    sys.argv[1])
