# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs of verify.test: FILE.npz with two arrays, FILE.pb, FILE.npy
in Fortran order, and FILE.short.npy, which is truncated.

usage: verify_inputs.py FILE
"""

import sys
from pathlib import Path

import numpy as np
from onnx import numpy_helper

file = Path(sys.argv[1])
x = np.random.default_rng(2).standard_normal((2, 3)).astype(np.float32)
np.savez_compressed(f"{file}.npz", x=x, other=x[0])
Path(f"{file}.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())
np.save(f"{file}.npy", np.asfortranarray(x))
Path(f"{file}.short.npy").write_bytes(Path(f"{file}.npy").read_bytes()[:-1])
