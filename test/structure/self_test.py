# SPDX-License-Identifier: Apache-2.0
"""check.py finds each violation that is put into a small tree, and nothing in
the lines that are allowed."""

import sys
import tempfile
from pathlib import Path

from check import LONGEST, check

# Path, a line in it, and what the message must contain.
BAD = (
    ("ir/Graph.cpp", '#include "passes/Pass.h"', "passes/Pass.h"),
    ("ir/Graph.cpp", '#include "runtime/plan/Plan.h"', "runtime/plan/Plan.h"),
    ("ir/Type.cpp", '#include <Eigen/Dense>', "Eigen/Dense"),
    ("ir/Type.cpp", '#include "llvm/TableGen/Record.h"', "llvm/TableGen"),
    ("ir/tblgen/Emit.cpp", '#include "ir/Graph.h"', "ir/Graph.h"),
    ("passes/Fold.cpp", '#include "codegen/Kernel.h"', "codegen/Kernel.h"),
    ("passes/Fold.cpp", '#include <cuda.h>', "cuda.h"),
    ("passes/Fold.cpp", '#include "compiler/onnx/onnx.pb.h"', "onnx.pb.h"),
    ("codegen/Emit.cpp", '#include "passes/Pass.h"', "passes/Pass.h"),
    ("codegen/Emit.cpp", '#include "runtime/Session.h"', "runtime/Session.h"),
    ("codegen/device/mma.cuh", '#include <mma.h>', "mma.h"),
    ("codegen/device/pool.cuh", '#include "ir/Type.h"', "ir/Type.h"),
    ("codegen/device/pool.cuh", '#include <vector>', "vector"),
    ("compiler/Compiler.cpp", '#include "runtime/Session.h"', "Session.h"),
    ("runtime/Session.cpp", '#include "llvm/ADT/StringRef.h"', "StringRef.h"),
    ("runtime/Session.cpp", '#include "ir/Type.h"', "ir/Type.h"),
    ("runtime/Session.cpp", '#  include <google/protobuf/any.h>', "google/"),
    ("passes/Fold.cpp", "// TODO later", "TODO"),
    ("ir/Graph.cpp", "static cl::opt<bool> x;", "belong to tools"),
    ("codegen/Nvrtc.cpp", 'auto *p = getenv("CUDA_PATH");', "environment"),
    ("ir/Long.cpp", "//\n" * (LONGEST + 1), "split it"),
)
GOOD = (
    ("codegen/device/DeviceHeaders.h", '#include <vector>'),
    ("ir/tblgen/Emit.cpp", '#include "llvm/TableGen/Record.h"'),
    ("ir/tblgen/Emit.cpp", '#include "ir/tblgen/OpRecord.h"'),
    ("passes/Fold.cpp", '#include "ir/Graph.h"'),
    ("codegen/Plan.cpp", '#include "runtime/plan/Plan.h"'),
    ("codegen/Plan.cpp", '#include "ir/Graph.h"'),
    ("codegen/device/pool.cuh", '#include "ir/scalar/Scalar.h"'),
    ("compiler/tools/dlc-run.cpp", '#include "runtime/Session.h"'),
    ("compiler/Compiler.cpp", '#include "runtime/plan/Plan.h"'),
    ("compiler/BundleWriter.h", '#include "runtime/bundle/BundleBuilder.h"'),
    ("compiler/tools/dlc.cpp", "static cl::opt<bool> x;"),
    ("compiler/Options.cpp", 'auto *p = getenv("HOME");'),
    ("runtime/Session.cpp", '#include "flatbuffers/flatbuffers.h"'),
    ("ir/Long.cpp", "//\n" * LONGEST),
)


def seeded(path, line):
    """What check.py says of a tree that holds one line."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path
        file.parent.mkdir(parents=True)
        file.write_text(line + ("" if line.endswith("\n") else "\n"))
        return check(Path(folder))[0]


failed = 0
for path, line, expected in BAD:
    said = seeded(path, line)
    if len(said) != 1 or expected not in said[0]:
        failed += 1
        print(f"{path}: {line[:60]!r}: expected one message with "
              f"'{expected}', got {said}")
for path, line in GOOD:
    said = seeded(path, line)
    if said:
        failed += 1
        print(f"{path}: {line[:60]!r}: expected no message, got {said}")
print(f"{len(BAD) + len(GOOD)} seeded trees, {failed} judged wrongly")
sys.exit(1 if failed else 0)
