# SPDX-License-Identifier: Apache-2.0
"""ONNX's own backend tests as folders: model.onnx, and per input and output a
TensorProto. The node tests are made by the onnx package's code, the others lie
in it; all are kept in .cache/conformance/."""

import json
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Case:
    name: str
    folder: Path
    operators: list  # every operator in the model, sorted, without domain ""
    inputs: list  # (name, file), in the model's order
    shapes: list  # "name=1x2" of each input that the model leaves open
    outputs: list
    element_types: list  # of inputs and outputs
    rtol: float
    atol: float
    unfit: str = ""  # why no tool of ours could take it: not tensors


def operators_of(graph):
    import onnx
    found = set()
    for node in graph.node:
        found.add(f"{node.domain}.{node.op_type}" if node.domain not in
                  ("", "ai.onnx") else node.op_type)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= operators_of(attribute.g)
    return found


def as_tensor(value, name):
    import numpy as np
    import onnx
    if isinstance(value, onnx.TensorProto):
        return value
    if value is None or isinstance(value, (list, dict)):
        return None
    return onnx.numpy_helper.from_array(np.asarray(value), name)


def write_node_case(case, folder):
    """One node test, made by the package's code."""
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    data = folder / "test_data_set_0"
    data.mkdir()
    inputs, outputs = case.data_sets[0]
    for kind, values, infos in (("input", inputs, case.model.graph.input),
                                ("output", outputs, case.model.graph.output)):
        for index, (value, info) in enumerate(zip(values, infos)):
            tensor = as_tensor(value, info.name)
            if tensor is not None:
                (data / f"{kind}_{index}.pb").write_bytes(
                    tensor.SerializeToString())


def is_fixed(tensor_type):
    """Whether the model says every size."""
    return tensor_type.HasField("shape") and all(
        d.HasField("dim_value") for d in tensor_type.shape.dim)


def describe(name, folder, rtol, atol):
    """A plain record of a case that is written out."""
    import onnx
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    constants = {i.name for i in model.graph.initializer}
    record = dict(name=name, folder=str(folder), rtol=rtol, atol=atol,
                  operators=sorted(operators_of(model.graph)), unfit="",
                  inputs=[], shapes=[], outputs=[], element_types=[])
    types = set()
    data = sorted(folder.glob("test_data_set_*"))
    if not data:
        return dict(record, unfit="it has no data")
    for kind, infos in (("input", [i for i in model.graph.input
                                   if i.name not in constants]),
                        ("output", model.graph.output)):
        for index, info in enumerate(infos):
            file = data[0] / f"{kind}_{index}.pb"
            if info.type.WhichOneof("value") != "tensor_type":
                record["unfit"] = "sequence or optional"
            elif info.type.tensor_type.elem_type == onnx.TensorProto.STRING:
                record["unfit"] = "strings"
            elif not file.exists():
                record["unfit"] = f"no data for {info.name}"
            elif kind == "input" and not is_fixed(info.type.tensor_type):
                dims = onnx.load_tensor(file).dims
                record["shapes"].append(
                    f"{info.name}={'x'.join(map(str, dims))}")
            types.add(onnx.TensorProto.DataType.Name(
                info.type.tensor_type.elem_type).lower())
            record[f"{kind}s"].append((info.name, str(file)))
    return dict(record, element_types=sorted(types))


def make(folder):
    import onnx.backend.test.loader as loader
    from onnx.backend.test.case.node import collect_testcases
    records = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            place = folder / "node" / case.name
            write_node_case(case, place)
            records.append(describe(case.name, place, case.rtol, case.atol))
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for case in loader.load_model_tests(kind=kind):
            place = folder / kind / case.name
            shutil.copytree(case.model_dir, place)
            records.append(describe(case.name, place, case.rtol, case.atol))
    (folder / "cases.json").write_text(json.dumps(records))


def load():
    """Every case, made on the first call."""
    import onnx
    folder = ROOT / ".cache" / "conformance" / onnx.__version__
    if not (folder / "cases.json").exists():
        print("conformance: writing out ONNX's tests", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        make(folder)
    records = json.loads((folder / "cases.json").read_text())
    return [Case(**dict(record, folder=Path(record["folder"])))
            for record in records]
