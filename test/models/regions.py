# SPDX-License-Identifier: Apache-2.0
"""What an ill-conditioned model is compared by (semantics.md): pieces between
tensors that everything passes through, each a model of its own that is fed
with what onnxruntime has at its beginning."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import references
from compare import compare

# Products and convolutions of a piece, at least.
HEAVY = 12
CONTRACTIONS = ("Conv", "ConvTranspose", "MatMul", "Gemm")


def ill_conditioned(model, inputs, expected, bound):
    """Does onnxruntime's own fp32 result move by more than the bound when the
    inputs move by one fp16 step?"""
    for seed in (1, 2):
        random = np.random.Generator(np.random.PCG64(seed))
        moved = {}
        for name, value in inputs.items():
            if value.dtype.kind == "f":
                step = np.spacing(np.abs(value).astype(np.float16))
                value = (value + random.choice([-1, 1], value.shape) * step
                         ).astype(value.dtype)
            moved[name] = value
        outputs = references.evaluate(model, moved)
        if any(not compare(outputs[n], expected[n], bound)[0]
               for n in expected):
            return True
    return False


@dataclass
class Region:
    """What run.py's Bench takes for a model."""
    name: str
    file: Path
    binds: dict = field(default_factory=dict)


def split(graph):
    """[(nodes, names of inputs, names of outputs)] in order, and the nodes
    that make constants."""
    constant = {t.name for t in graph.initializer} | {""}
    makers, nodes = [], []
    for node in graph.node:
        if any(a.HasField("g") for a in node.attribute):
            raise ValueError(f"{node.name} has a subgraph")
        fixed = all(name in constant for name in node.input)
        (makers if fixed else nodes).append(node)
        if fixed:
            constant.update(node.output)
    last = {name: at for at, node in enumerate(nodes) for name in node.input}
    last.update((value.name, len(nodes)) for value in graph.output)
    live = {value.name for value in graph.input} - constant
    pieces, begin, heavy, entry = [], 0, 0, sorted(live)
    for at, node in enumerate(nodes):
        heavy += node.op_type in CONTRACTIONS
        live = {name for name in live.union(node.output)
                if last.get(name, -1) > at}
        if len(live) == 1 and heavy >= HEAVY and at + 1 < len(nodes):
            pieces.append((nodes[begin:at + 1], entry, sorted(live)))
            begin, heavy, entry = at + 1, 0, sorted(live)
    pieces.append((nodes[begin:], entry, [v.name for v in graph.output]))
    return pieces, makers


def regions(model, inputs, folder):
    """(region, its inputs, what onnxruntime makes of them) one by one."""
    import onnx
    from onnx import helper
    whole = onnx.load(str(model.file))
    pieces, makers = split(whole.graph)
    weights = {t.name: t for t in whole.graph.initializer}
    values = dict(inputs)
    for number, (nodes, entry, leave) in enumerate(pieces):
        wanted = {name for node in nodes for name in node.input}
        needed = []
        for maker in reversed(makers):
            if wanted & set(maker.output):
                needed.append(maker)
                wanted.update(maker.input)
        graph = helper.make_graph(
            [*reversed(needed), *nodes], f"{model.name}_{number}",
            [helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(values[name].dtype),
                values[name].shape) for name in entry],
            [onnx.ValueInfoProto(name=name) for name in leave],
            [weights[name] for name in sorted(wanted & weights.keys())])
        for value in graph.output:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        region = Region(graph.name, Path(folder) / f"{graph.name}.onnx")
        onnx.save(helper.make_model(
            graph, opset_imports=whole.opset_import,
            ir_version=whole.ir_version), str(region.file))
        given = {name: values[name] for name in entry}
        made = references.evaluate(region, given)
        yield region, given, made
        values.update(made)
