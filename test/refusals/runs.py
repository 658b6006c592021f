# SPDX-License-Identifier: Apache-2.0
"""What dlc-run has to refuse: inputs of a wrong name, type, shape or rank,
devices that are not here, files that are no bundles."""

from dataclasses import dataclass
from typing import Callable

import models
import numpy as np


@dataclass
class BadRun:
    name: str
    bundle: str  # of those that build() makes
    arguments: Callable  # of a folder for files
    words: list


def array(folder, name, value):
    file = folder / f"{name}.npy"
    np.save(file, value)
    return f"--input={name}={file}"


def build(tools, folder):
    """({name: bundle}, a sentence if one could not be built)."""
    bundles = {"text": folder / "text.bundle", "empty": folder / "empty.bundle",
               "cut": folder / "cut.bundle", "gone": folder / "gone.bundle"}
    bundles["text"].write_text("this is no bundle\n" * 100)
    bundles["empty"].write_bytes(b"")
    file = folder / "model.onnx"
    file.write_bytes(models.model(
        [models.node("MatMul", ["x", "w"], ["y"])],
        inputs=[("x", models.F32, ["N", 3])],
        constants=[models.constant("w", (3, 5))]).SerializeToString())
    for name, target in (("host", "host"), ("gpu", "sm_90a")):
        bundles[name] = folder / f"{name}.bundle"
        said = tools.call("dlc", file, f"--target={target}", "-q",
                          "--shape=x=1..4x3", "-o", bundles[name])
        if said.how != "done":
            return bundles, f"dlc --target={target}: {said.sentence}"
    data = bundles["host"].read_bytes()
    bundles["cut"].write_bytes(data[:len(data) // 2])
    return bundles, ""


def random(*shape, dtype=np.float32):
    return np.random.default_rng(5).standard_normal(shape).astype(dtype)


HOST = "--device=host"
CASES = [
    BadRun("wrong input name", "host", lambda f: [
        HOST, array(f, "z", random(2, 3))], ["z", "x"]),
    BadRun("wrong input type", "host", lambda f: [
        HOST, array(f, "x", random(2, 3, dtype=np.float64))],
        ["x", "f64|float64", "f32|float32"]),
    BadRun("wrong input shape", "host", lambda f: [
        HOST, array(f, "x", random(2, 4))], ["x", "4", "3"]),
    BadRun("size outside of the range", "host", lambda f: [
        HOST, array(f, "x", random(9, 3))], ["9", "4"]),
    BadRun("wrong input rank", "host", lambda f: [
        HOST, array(f, "x", random(2, 3, 1))], ["x", "rank|dimensions"]),
    BadRun("input file that is missing", "host", lambda f: [
        HOST, "--input=x=/nowhere/x.npy"], ["/nowhere/x.npy"]),
    BadRun("input file that is no array", "host", lambda f: [
        HOST, f"--input=x={__file__}"], ["runs.py"]),
    BadRun("no GPU and no host code", "gpu", lambda f: [
        array(f, "x", random(2, 3))], ["driver|GPU|CUDA", "dlc --target=host"]),
    BadRun("host device, but no host code in the bundle", "gpu", lambda f: [
        HOST, array(f, "x", random(2, 3))], ["host"]),
    BadRun("host code is run only when asked for by name", "host", lambda f: [
        array(f, "x", random(2, 3))], ["driver|GPU|CUDA|host"]),
    BadRun("not a bundle", "text", lambda f: [HOST], ["text.bundle", "bundle"]),
    BadRun("empty file", "empty", lambda f: [HOST], ["empty.bundle"]),
    BadRun("half a bundle", "cut", lambda f: [HOST], ["cut.bundle"]),
    BadRun("no file", "gone", lambda f: [HOST], ["gone.bundle"]),
]
