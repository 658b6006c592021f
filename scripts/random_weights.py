# SPDX-License-Identifier: Apache-2.0
"""Gives a network of the onnx package's light_* family random weights.

As shipped, every weight of these graphs is 0.02 (a ConstantOfShape node) and
every output one number repeated, which a wrong layout would pass. Here each
parameter becomes an initialiser drawn from a seeded generator, by what it is
used for; a reshape to [1, ...] gets a 0 in front so that any batch passes; and
the batch becomes the symbol N.

Statistics of normalisations are measured on a batch of inputs and then moved
by a random amount: drawn freely, a deep network would give one output for all
inputs.
"""

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper


class Draw:
    """Draws parameters; the same seed gives the same network."""

    def __init__(self, seed):
        self.random = np.random.Generator(np.random.PCG64(seed))

    def normal(self, shape, scale, mean=0.0):
        values = self.random.standard_normal(shape, dtype=np.float32)
        return values * np.float32(scale) + np.float32(mean)

    def uniform(self, shape, low, high):
        return self.random.uniform(low, high, shape).astype(np.float32)


def parameter_shapes(graph):
    """Shapes of the float parameters, initialisers and filled ones alike."""
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    shapes = {n: v.shape for n, v in constants.items() if v.dtype == np.float32}
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            shapes[node.output[0]] = tuple(constants[node.input[0]])
    return shapes


def branch_scale(graph, name):
    """The scale of a normalisation: small where its result is added to a
    residual, so that the values do not double from block to block."""
    users = [n.op_type for n in graph.node if name in n.input]
    return 0.35 if users and set(users) <= {"Sum"} else 1.0


def draw_all(graph, shapes, draw):
    """Parameter name to values, in the order of the graph."""
    values = {}
    views = {n.output[0]: n.input[0] for n in graph.node
             if n.op_type in ("Unsqueeze", "Reshape")}

    def put(name, make):
        name = views.get(name, name)
        if name in shapes and name not in values:
            values[name] = make(shapes[name])

    for node in graph.node:
        i = list(node.input)
        if node.op_type == "Conv":
            put(i[1], lambda s: draw.normal(s, (2 / np.prod(s[1:])) ** 0.5))
            if len(i) > 2:
                put(i[2], lambda s: draw.normal(s, 0.1))
        elif node.op_type == "Gemm":
            put(i[1], lambda s: draw.normal(s, (2 / s[-1]) ** 0.5))
            put(i[2], lambda s: draw.normal(s, 0.1))
        elif node.op_type == "BatchNormalization":
            gain = branch_scale(graph, node.output[0])
            put(i[1], lambda s: draw.uniform(s, 0.7 * gain, 1.3 * gain))
            put(i[2], lambda s: draw.normal(s, 0.2))
            # In units of what is measured, see measure().
            put(i[3], lambda s: draw.normal(s, 0.3, 0.3))
            put(i[4], lambda s: draw.uniform(s, 0.6, 1.5))
        elif node.op_type == "Mul":
            put(i[1], lambda s: draw.uniform(s, 0.7, 1.3))
        elif node.op_type == "Add":
            put(i[1], lambda s: draw.normal(s, 0.2))
    return values


def free_batch(graph, constants):
    """Makes the batch the symbol N."""
    reshaped = {n.input[1] for n in graph.node if n.op_type == "Reshape"}
    for name in reshaped:
        if name in constants and constants[name][0] == 1:
            constants[name] = np.concatenate([[0], constants[name][1:]])
    for value in list(graph.input) + list(graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    del graph.value_info[:]


def run(model, outputs, batch):
    """The named values of the model, in onnxruntime."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    probe.graph.output.extend(onnx.ValueInfoProto(name=n) for n in outputs)
    session = onnxruntime.InferenceSession(
        probe.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(outputs, {session.get_inputs()[0].name: batch})


def rounded(values):
    """Eight bits of each value, so that the last bits of a machine's own sums
    do not show."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(fraction * 256) / 256, exponent).astype(np.float32)


def measure(model, values, batch):
    """Replaces the drawn mean and variance of each normalisation, which are
    shares of those of its input, by values in full. The mean is taken away by
    about a third only: a network that keeps nothing but differences is so ill
    conditioned that no fp16 can follow it."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.node[:]
    # Under a channel that is constant on this batch, another input could blow up.
    probe.graph.initializer.append(
        numpy_helper.from_array(np.float32([0.05]), "probe floor"))
    wanted = []
    for index, node in enumerate(model.graph.node):
        if node.op_type != "BatchNormalization":
            probe.graph.node.append(node)
            continue
        x, gain, bias, shift, stretch = node.input
        part = lambda name: f"probe{index}.{name}"  # noqa: E731
        column = {name: part(f"column.{name}")
                  for name in (gain, bias, shift, stretch)}
        for name, view in column.items():
            probe.graph.node.append(helper.make_node(
                "Unsqueeze", [name], [view], axes=[0, 2, 3]))
        for op, args, out in (
                ("ReduceMean", [x], "mean"),
                ("Mul", [part("mean"), column[shift]], "used mean"),
                ("Sub", [x, part("used mean")], "moved"),
                ("Mul", [part("moved"), part("moved")], "moved square"),
                ("ReduceMean", [part("moved square")], "var"),
                ("Mul", [part("var"), column[stretch]], "its share"),
                ("Add", [part("its share"), "probe floor"], "used var"),
                ("Sqrt", [part("used var")], "used dev"),
                ("Div", [part("moved"), part("used dev")], "unit"),
                ("Mul", [part("unit"), column[gain]], "scaled")):
            probe.graph.node.append(helper.make_node(
                op, args, [part(out)],
                **({"axes": [0, 2, 3]} if op == "ReduceMean" else {})))
        probe.graph.node.append(helper.make_node(
            "Add", [part("scaled"), column[bias]], [node.output[0]]))
        wanted += [(shift, part("used mean")), (stretch, part("used var"))]
    if wanted:
        for (name, _), value in zip(
                wanted, run(probe, [probed for _, probed in wanted], batch)):
            values[name] = rounded(value.reshape(-1))


def store(graph, constants):
    del graph.initializer[:]
    for name, value in constants.items():
        graph.initializer.append(
            numpy_helper.from_array(np.ascontiguousarray(value), name))


def tame_softmax(model, values, batch):
    """Scales the last layer by a power of two so that Softmax is neither flat
    nor a step."""
    softmax = [n for n in model.graph.node if n.op_type == "Softmax"]
    if softmax:
        last = [n for n in model.graph.node if n.op_type in ("Conv", "Gemm")][-1]
        made = {n.output[0]: n.input[0] for n in model.graph.node
                if n.op_type == "Reshape"}
        weights = made.get(last.input[1], last.input[1])
        logits, = run(model, [softmax[-1].input[0]], batch)
        spread = logits.reshape(len(batch), -1).std(axis=1).mean()
        values[weights] *= np.float32(2.0 ** np.round(np.log2(1.0 / spread)))


def randomise(model, seed, batch):
    """The model with random parameters and a symbolic batch; statistics are
    measured on the batch of inputs given."""
    graph = model.graph
    shapes = parameter_shapes(graph)
    values = draw_all(graph, shapes, Draw(seed))
    nodes = [n for n in graph.node if n.op_type != "ConstantOfShape"]
    used = {name for n in nodes for name in n.input}
    missing = sorted(n for n in shapes if n in used and n not in values)
    if missing:
        raise ValueError(f"no rule gives values to {missing}")
    constants = {i.name: numpy_helper.to_array(i) for i in graph.initializer
                 if i.name in used and i.name not in shapes}
    data = [i for i in graph.input
            if i.name in used and i.name not in shapes
            and i.name not in constants]
    for repeated, field in ((nodes, graph.node), (data, graph.input)):
        kept = [type(x).FromString(x.SerializeToString()) for x in repeated]
        del field[:]
        field.extend(kept)
    free_batch(graph, constants)
    # From IR version 4 on an initialiser need not be a graph input.
    model.ir_version = max(model.ir_version, 8)
    store(graph, {**constants, **values})
    measure(model, values, batch)
    store(graph, {**constants, **values})
    tame_softmax(model, values, batch)
    store(graph, {**constants, **values})
    onnx.checker.check_model(model)
    return model


def check(network, data, inputs):
    """Raises unless the outputs, in onnxruntime, are finite, differ from one
    another, and are neither flat nor a step; says how they are spread."""
    session = onnxruntime.InferenceSession(
        data, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    worst, largest = 1.0, 0.0
    rows = []
    for batch in inputs:
        out = session.run(None, {name: batch})[0].reshape(len(batch), -1)
        if not np.isfinite(out).all():
            raise ValueError(f"{network}: outputs are not finite")
        rows.extend(out)
    for index, row in enumerate(rows):
        spread = row.std() / np.abs(row).mean()
        worst = min(worst, spread)
        largest = max(largest, np.abs(row).max() / np.abs(row).sum())
        for other in rows[:index]:
            if np.linalg.norm(row - other) < 1e-2 * np.linalg.norm(row):
                raise ValueError(f"{network}: two inputs, one output")
    if worst < 0.05 or largest > 0.9:
        raise ValueError(f"{network}: output spread {worst:.3f}, "
                         f"largest share {largest:.3f}")
    return f"output spread {worst:.2f}, largest share {largest:.2f}"
