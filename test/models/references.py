# SPDX-License-Identifier: Apache-2.0
"""What onnxruntime makes of each case of each model, kept in .models/cache/.

usage: references.py [MODEL[:CASE] ...]      computes what is missing and says
                                             where the .npz and .npy files are
"""

import hashlib
import re
import sys

import numpy as np

import table

CACHE = table.FOLDER / "cache"


def file_name(value):
    """How dlc-run names the .npy of an output: only letters and digits."""
    return re.sub(r"[^A-Za-z0-9]", "_", value)


def digest(model, inputs):
    """Changes with the model's file, what is bound, and the inputs."""
    state = model.file.stat()
    text = f"{state.st_size} {state.st_mtime_ns} {sorted(model.binds.items())}"
    hashed = hashlib.sha256(text.encode())
    for name in sorted(inputs):
        hashed.update(name.encode() + inputs[name].tobytes())
    return hashed.hexdigest()[:16]


def session(path):
    """A plain session: two threads, no warnings."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"])


def evaluate(model, inputs):
    """The outputs of a model by name; bound inputs are added."""
    runner = session(model.file)
    feeds = dict(inputs)
    types = {"tensor(int64)": np.int64, "tensor(float)": np.float32}
    for value in runner.get_inputs():
        if value.name in model.binds:
            feeds[value.name] = np.array(model.binds[value.name],
                                         types[value.type])
    names = [value.name for value in runner.get_outputs()]
    return dict(zip(names, runner.run(names, feeds)))


def reference(model, case):
    """(inputs, outputs) of a case, each a dictionary of arrays by name."""
    if not model.file.exists():
        raise FileNotFoundError(f"no {model.file}: run .venv/bin/python "
                                f"scripts/models.py {model.name}")
    inputs = {name: np.ascontiguousarray(value)
              for name, value in case.inputs().items()}
    path = CACHE / model.name / f"{case.name}.npz"
    key = digest(model, inputs)
    if path.exists():
        with np.load(path) as stored:
            if str(stored["key"]) == key:
                return inputs, {n[4:]: stored[n] for n in stored.files
                                if n.startswith("out ")}
    outputs = evaluate(model, inputs)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{case.name}.part.npz")
    np.savez(part, key=key, **{"in " + n: v for n, v in inputs.items()},
             **{"out " + n: v for n, v in outputs.items()})
    part.rename(path)
    return inputs, outputs


def as_files(model, case):
    """The same as .npy files for the tools: (folder, {input: file})."""
    inputs, outputs = reference(model, case)
    folder = CACHE / model.name / case.name
    files = {}
    for kind, values in (("in", inputs), ("out", outputs)):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for name, value in values.items():
            path = folder / kind / f"{file_name(name)}.npy"
            np.save(path, value)
            if kind == "in":
                files[name] = path
    return folder, files


def main():
    wanted = sys.argv[1:] or list(table.MODELS)
    for text in wanted:
        name, _, only = text.partition(":")
        model = table.MODELS[name]
        for case in model.cases:
            if only in ("", case.name):
                folder, files = as_files(model, case)
                inputs, outputs = reference(model, case)
                shapes = lambda v: " ".join(  # noqa: E731
                    f"{n}={'x'.join(map(str, a.shape))}" for n, a in v.items())
                print(f"{model.name}:{case.name}  {shapes(inputs)}  ->  "
                      f"{shapes(outputs)}  {folder}", flush=True)


if __name__ == "__main__":
    main()
