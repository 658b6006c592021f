# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of the faults: small models with the values they must give."""

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FAULTS = {}


@dataclass
class Case:
    """One model, its inputs, and what must come out."""
    name: str
    model: onnx.ModelProto
    inputs: dict
    outputs: dict
    tolerance: float  # relative and absolute; 0: equal, NaN to NaN
    refusal: str = ""  # instead of outputs: words of the sentence
    wide: bool = False  # intermediates overflow unless they stay wide
    typed: bool = False  # the values are those of the model's own types
    options: list = field(default_factory=list)  # for the compiler


class Fault:
    def __init__(self, key):
        self.key = key
        self.cases = []

    def add(self, label, made, inputs, outputs, tolerance=0.0, refusal="",
            wide=False, typed=False, options=()):
        self.cases.append(Case(f"{self.key}.{label}", made, inputs, outputs,
                               tolerance, refusal, wide, typed,
                               list(options)))


def fault(number):
    """Registers a function that adds the cases of fault HO-<number>."""
    return register(f"HO-{number:02}")


def promise(topic):
    """Registers a function that adds cases of what docs/ir.md promises."""
    return register(f"promise-{topic}")


def register(key):
    def keep(make):
        FAULTS[key] = make
        return make
    return keep


def cases():
    found = []
    for key in sorted(FAULTS):
        entry = Fault(key)
        FAULTS[key](entry)
        found += entry.cases
    return found


def node(operator, inputs, outputs="y", **attributes):
    if isinstance(outputs, str):
        outputs = outputs.split()
    return helper.make_node(operator, inputs.split(","), outputs,
                            name=f"{operator.lower()}_{outputs[0]}",
                            **attributes)


def onnx_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def model(nodes, inputs, outputs="y", opset=18, constants=None, shapes=None,
          types=None):
    """A model whose inputs are these arrays (name to array) and whose constants
    are initialisers. `shapes` overrides the shape of an input, with names for
    symbols; `types` gives the element types of outputs that are no float32."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    infos = []
    for name, value in inputs.items():
        shape = (shapes or {}).get(name, value.shape)
        infos.append(helper.make_tensor_value_info(
            name, onnx_type(value.dtype), list(shape)))
    results = [helper.make_tensor_value_info(
        name, onnx_type((types or {}).get(name, np.float32)), None)
        for name in outputs.split()]
    graph = helper.make_graph(
        nodes, "fault", infos, results,
        [numpy_helper.from_array(np.asarray(v), k)
         for k, v in (constants or {}).items()])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def folded(case):
    """The same model with its inputs as initialisers: what the folder gives."""
    copy = onnx.ModelProto()
    copy.CopyFrom(case.model)
    for name, value in case.inputs.items():
        copy.graph.initializer.append(numpy_helper.from_array(value, name))
    del copy.graph.input[:]
    return copy


def exposed(case):
    """The same model with every intermediate tensor as an output; nothing when
    there is none."""
    known = {o.name for o in case.model.graph.output}
    hidden = [name for n in case.model.graph.node for name in n.output
              if name and name not in known]
    if not hidden:
        return None
    try:
        typed = onnx.shape_inference.infer_shapes(case.model)
    except onnx.shape_inference.InferenceError:
        return None
    infos = {i.name: i for i in typed.graph.value_info}
    if any(name not in infos for name in hidden):
        return None
    copy = onnx.ModelProto()
    copy.CopyFrom(case.model)
    copy.graph.output.extend(infos[name] for name in hidden)
    return copy


def f32(*values, shape=None):
    array = np.array(values, np.float32)
    return array if shape is None else array.reshape(shape)


def i64(*values):
    return np.array(values, np.int64)


def random(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def onnx_reference(made, inputs):
    """What ONNX's own evaluator says; for ops that it is trusted on."""
    from onnx.reference import ReferenceEvaluator
    names = [o.name for o in made.graph.output]
    return dict(zip(names, ReferenceEvaluator(made).run(None, inputs)))


__all__ = ["Fault", "TensorProto", "cases", "f32", "fault", "helper", "i64",
           "model", "node", "np", "onnx", "onnx_reference", "promise", "random"]
