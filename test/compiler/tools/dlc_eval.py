#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dlc-eval: .npy files of every type and order, manifests, sentences."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOOL = sys.argv[1]
failures = []


def run(*arguments):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found!r}, expected {wanted!r}")


def refused(what, words, *arguments):
    status, _, errors = run(*arguments)
    if status != 1 or "error: " not in errors or any(
            word not in errors for word in words):
        failures.append(f"{what}: status {status}, {errors.strip()!r}, "
                        f"expected {words}")


def model(path, operator, types, shape, outputs=("y",)):
    infos = [helper.make_tensor_value_info(name, kind, shape)
             for name, kind in types.items()]
    results = [helper.make_tensor_value_info(name, next(iter(types.values())),
                                             None) for name in outputs]
    graph = helper.make_graph(
        [helper.make_node(operator, list(types), list(outputs))], "g", infos,
        results)
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 18)]), path)
    return path


def arrays(folder):
    """Every element type goes through a file unharmed, Fortran order too."""
    random = np.random.default_rng(1)
    for dtype in (np.float64, np.float32, np.float16, np.int64, np.int32,
                  np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8,
                  np.bool_):
        x = (random.standard_normal((3, 4)) * 50).astype(dtype)
        file = model(folder / "m.onnx", "Identity", {
            "x": helper.np_dtype_to_tensor_dtype(np.dtype(dtype))}, ["N", "M"])
        for order in "CF":
            np.save(folder / "x.npy", np.asarray(x, order=order))
            status, _, errors = run(file, "--input", f"x={folder / 'x.npy'}",
                                    "--save", folder / "out")
            expect(f"{dtype} {order} {errors}", status, 0)
            y = np.load(folder / "out" / "y.npy")
            expect(f"{dtype} {order} type", y.dtype, x.dtype)
            expect(f"{dtype} {order}", y.tolist(), x.tolist())
    for shape in ((), (0,), (2, 0, 3), (1,) * 8):
        x = random.standard_normal(shape).astype(np.float32)
        file = model(folder / "m.onnx", "Neg", {"x": TensorProto.FLOAT},
                     [f"d{i}" for i in range(len(shape))])
        np.save(folder / "x.npy", x)
        status, _, errors = run(
            file, "--input", f"x={folder / 'x.npy'}", "--save", folder / "out",
            *(["--shape", "x=" + "x".join(map(str, shape))] if 0 in shape
              else []))
        expect(f"{shape} {errors}", status, 0)
        y = np.load(folder / "out" / "y.npy")
        expect(f"{shape}", (y.shape, y.tolist()), (shape, (-x).tolist()))


def names_and_tensors(folder):
    """A TensorProto as input, an output whose name is no file name."""
    file = model(folder / "m.onnx", "Add", {
        "a": TensorProto.FLOAT, "b:0": TensorProto.FLOAT}, [2],
        outputs=("sum/of:both",))
    a, b = np.float32([1, 2]), np.float32([0.5, -4])
    (folder / "a.pb").write_bytes(
        numpy_helper.from_array(a, "a").SerializeToString())
    np.save(folder / "b.npy", b)
    status, _, errors = run(file, "--input", f"a={folder / 'a.pb'}", "--input",
                            f"b:0={folder / 'b.npy'}", "--save", folder / "out")
    expect(errors, status, 0)
    expect("sum", np.load(folder / "out" / "sum_of_both.npy").tolist(),
           [1.5, -2])
    np.savez(folder / "both.npz", a=a, b=b)
    status, _, errors = run(file, "--input", f"a={folder / 'both.npz'}:a",
                            "--input", f"b:0={folder / 'both.npz'}:b",
                            "--save", folder / "zip")
    expect(errors, status, 0)
    expect("sum of .npz", np.load(folder / "zip" / "sum_of_both.npy").tolist(),
           [1.5, -2])
    lines = "\n".join("\t".join(map(str, line)) for line in (
        (file, folder / "many", f"a={folder / 'a.pb'}",
         f"b:0={folder / 'b.npy'}"),
        (file, folder / "none", f"a={folder / 'a.pb'}"),
        (folder / "absent.onnx", folder / "none")))
    (folder / "manifest").write_text(lines + "\n")
    status, output, errors = run("--manifest", folder / "manifest")
    expect(errors, status, 0)
    said = output.splitlines()
    expect("manifest", [line.split(":")[0] for line in said],
           ["ok", "error", "error"])
    expect("manifest names the input", '"b:0"' in said[1], True)
    expect("many", np.load(folder / "many" / "sum_of_both.npy").tolist(),
           [1.5, -2])


def refusals(folder):
    file = model(folder / "m.onnx", "Relu", {"x": TensorProto.FLOAT}, ["N", 3])
    good = folder / "good.npy"
    np.save(good, np.zeros((2, 3), np.float32))
    refused("no input", ['"x"', "--input"], file)
    refused("unknown input", ['no input "z"'], file, "--input", f"x={good}",
            "--input", f"z={good}")
    refused("no file", ["absent.npy"], file, "--input", "x=absent.npy")
    np.save(folder / "shape.npy", np.zeros((2, 4), np.float32))
    refused("shape", ['"x"', "[2,4]"], file, "--input",
            f"x={folder / 'shape.npy'}")
    np.save(folder / "type.npy", np.zeros((2, 3), np.int32))
    refused("type", ['"x"', "f32", "i32"], file, "--input",
            f"x={folder / 'type.npy'}")
    (folder / "text.npy").write_text("no array")
    refused("no array", ["not an .npy file"], file, "--input",
            f"x={folder / 'text.npy'}")
    (folder / "short.npy").write_bytes(good.read_bytes()[:-4])
    refused("truncated", ["20 bytes", "24"], file, "--input",
            f"x={folder / 'short.npy'}")
    np.save(folder / "big.npy", np.zeros((2, 3), ">f4"))
    refused("big endian", [">f4"], file, "--input", f"x={folder / 'big.npy'}")
    np.save(folder / "complex.npy", np.zeros((2, 3), np.complex64))
    refused("complex", ["<c8"], file, "--input", f"x={folder / 'complex.npy'}")
    refused("no model", ["no model"])
    graph = ("module {\n  graph @main(%x: tensor<2xf32>) -> (%y as \"y\") {\n"
             "    %y = neg(%x) : tensor<2xf32>\n  }\n}\n")
    for label, comments, words in (
            ("wrong value", "// input x = [1, 2]\n// expect y = [-1, 2]\n",
             ["y: element 1 is -2", "expected 2"]),
            ("wrong shape", "// input x = [1, 2]\n// expect y = [[-1, -2]]\n",
             ["shape [2], expected [1,2]"]),
            ("no input", "// expect y = [-1, -2]\n", ["// input x"]),
            ("no expectation", "// input x = [1, 2]\n", ["// expect"]),
            ("ragged", "// input x = [[1], [2, 3]]\n", ["line 1", "x"]),
            ("unknown output", "// input x = [1, 2]\n// expect z = [1]\n",
             ['"z"'])):
        text = folder / "case.dlc"
        text.write_text(comments + graph)
        refused(label, words, text)


with tempfile.TemporaryDirectory() as place:
    for part in (arrays, names_and_tensors, refusals):
        part(Path(place))
print("\n".join(failures))
sys.exit(1 if failures else 0)
