# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models for the importer's tests, and how dlc-eval takes them."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32, F16, I64, BOOL = (TensorProto.FLOAT, TensorProto.FLOAT16,
                       TensorProto.INT64, TensorProto.BOOL)


def node(operator, inputs, outputs="y", name="n", domain="", **attributes):
    return helper.make_node(operator, inputs.split(" "), outputs.split(),
                            name=name, domain=domain, **attributes)


def constant(name, values, dtype=None):
    return numpy_helper.from_array(np.array(values, dtype), name)


def model(nodes, inputs=(("x", F32, [2, 3]),), outputs="y", constants=(),
          opset=17, domains=(), functions=()):
    """A model; `nodes` is one node or a list. Outputs have no declared type."""
    nodes = nodes if isinstance(nodes, list) else [nodes]
    made = graph(nodes, outputs, inputs, "g")
    made.initializer.extend(constants)
    opsets = [helper.make_opsetid("", opset)] if opset else []
    whole = helper.make_model(made, opset_imports=opsets + [
        helper.make_opsetid(d, 1) for d in domains],
        functions=list(functions))
    whole.ir_version = 8
    return whole


def graph(nodes, outputs, inputs=(), name="branch"):
    """A graph whose outputs have names and no types."""
    made = helper.make_graph(nodes, name, [
        helper.make_tensor_value_info(*i) for i in inputs], [])
    for output in outputs.split():
        made.output.add(name=output)
    return made


def evaluate(tool, made, inputs=None, options=(), prepare=None):
    """Whether it was taken, outputs by name, and what the tool says. `prepare`
    writes other files into the model's folder."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model"
        place.mkdir()
        if prepare:
            prepare(place)
        path = place / "m.onnx"
        path.write_bytes(made if isinstance(made, bytes)
                         else made.SerializeToString())
        command = [tool, str(path), *options]
        for i, (name, values) in enumerate((inputs or {}).items()):
            file = Path(folder) / f"{i}.npy"
            np.save(file, values)
            command.append(f"--input={name}={file}")
        saved = Path(folder) / "out"
        done = subprocess.run(command + [f"--save={saved}"],
                              capture_output=True, text=True,
                              errors="replace", timeout=120)
        outputs = {p.stem: np.load(p) for p in saved.glob("*.npy")}
        said = done.stderr.replace(f"{place}/", "").replace("dlc-eval: ", "")
        if done.returncode not in (0, 1):
            said = f"ended with status {done.returncode}\n" + said
        return done.returncode == 0, outputs, said.strip()


def finish(failures, count):
    for failure in failures:
        print(failure)
    print(f"{count - len(failures)} of {count} as expected")
    sys.exit(1 if failures or not count else 0)
