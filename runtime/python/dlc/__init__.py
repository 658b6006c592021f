# SPDX-License-Identifier: Apache-2.0
"""dlc: compile an ONNX model and run it.

    import dlc
    bundle = dlc.compile("model.onnx", shapes={"x": "1x3x224x224"})
    outputs = bundle.session().run({"x": image})

A bundle that exists is opened by dlc.Bundle("model.bundle"). Running needs the
runtime alone; compile() needs the program dlc, beside this package or on PATH.
"""

from dlc._runtime import version as _version
from dlc.compiler import compile
from dlc.errors import CompileError, Error
from dlc.session import Bundle, Port, Session

__version__ = _version()
__all__ = ["Bundle", "CompileError", "Error", "Port", "Session", "compile"]
