# SPDX-License-Identifier: Apache-2.0
"""compile(): calls the program dlc."""

import os
import shutil
import subprocess
import tempfile
import weakref
from pathlib import Path

from dlc.errors import CompileError
from dlc.session import Bundle


def find_compiler():
    """The program dlc: in the build or prefix that this package lies in, or on
    PATH; None where only the runtime is installed."""
    for folder in Path(__file__).resolve().parents[1:6]:
        program = folder / "bin" / "dlc"
        if program.is_file() and os.access(program, os.X_OK):
            return str(program)
    return shutil.which("dlc")


def shape_text(shape):
    return shape if isinstance(shape, str) else "x".join(map(str, shape))


def remove(folder):
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def compile(model, output=None, *, targets=None, precision=None, shapes=None,
            binds=None, states=None, options=()):
    """Compiles an ONNX file and returns its Bundle.

    output    where the bundle goes; None: a temporary file that goes away
              with the Bundle
    targets   names such as "sm_90a", "portable", "host"; None: dlc's default
    precision "fp32", "tf32", "fp16" or "bf16"
    shapes    {input: shape}, or a list of such for several specialisations in
              one bundle; a shape is a tuple, or dlc's text ("1..8x3x48x320")
    binds     {input: value}: inputs that become constants
    states    {input: output}: the session keeps this output and gives it to
              this input in its next run; zeros at first
    options   more options of the program dlc
    """
    program = find_compiler()
    if program is None:
        raise CompileError("the compiler is not installed here: no program "
                           "dlc beside this package or on PATH")
    folder = None
    if output is None:
        folder = tempfile.mkdtemp(prefix="dlc-")
        output = os.path.join(folder, Path(model).stem + ".bundle")
    command = [program, os.fspath(model), "-q", "-o", os.fspath(output)]
    if targets:
        targets = [targets] if isinstance(targets, str) else targets
        command.append("--target=" + ",".join(targets))
    if precision:
        command.append(f"--precision={precision}")
    groups = [shapes] if isinstance(shapes, dict) else list(shapes or ())
    for group in groups:
        for name, shape in group.items():
            command.append(f"--shape={name}={shape_text(shape)}")
    for name, value in (binds or {}).items():
        command.append(f"--bind={name}={value}")
    for name, value in (states or {}).items():
        command.append(f"--state={name}={value}")
    command += options
    done = subprocess.run(command, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        remove(folder)
        raise CompileError((done.stderr or done.stdout).strip() or
                           f"dlc ended with status {done.returncode}")
    bundle = Bundle(output)
    weakref.finalize(bundle, remove, folder)
    bundle._recipe = dict(model=os.path.abspath(model), targets=targets,
                          precision=precision, binds=binds, states=states,
                          options=options)
    return bundle
