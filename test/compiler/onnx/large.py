# SPDX-License-Identifier: Apache-2.0
"""A model of over 2 GB, which protobuf alone cannot read: its weight stays in
the file. The file is sparse and takes no room on the disk.

usage: large.py DLC-EVAL
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from onnx import TensorProto

from onnx_cases import F32, I64, finish, model, node

ROWS, COLUMNS = 2_500_000, 256  # of f32: 2.56 GB


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7f | 0x80])
        number >>= 7
    return out + bytes([number])


def header(field, length):
    return varint(field << 3 | 2) + varint(length)


def write(path, columns):
    """The model, with a weight of which the shape says `columns`."""
    made = model(node("Gather", "w i"), [("i", I64, [2])])
    made.graph.ClearField("name")
    graph = made.graph.SerializeToString()
    made.ClearField("graph")
    tensor = TensorProto(name="w", data_type=F32, dims=[ROWS, columns])
    size = 4 * ROWS * COLUMNS
    tensor_start = tensor.SerializeToString() + header(9, size)
    graph += header(5, len(tensor_start) + size) + tensor_start
    start = made.SerializeToString() + header(7, len(graph) + size) + graph
    with open(path, "wb") as file:
        file.write(start)
        file.truncate(len(start) + size)


def main():
    failures = []
    # Imported in full, it lacks an input; nothing of the weight was read.
    for columns, expected in (
            (COLUMNS, 'input "i" is missing'),
            (COLUMNS + 1, f'initializer "w": its data has '
             f'{4 * ROWS * COLUMNS} bytes, its type '
             f'tensor<{ROWS}x{COLUMNS + 1}xf32> needs '
             f'{4 * ROWS * (COLUMNS + 1)}')):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.onnx"
            write(path, columns)
            done = subprocess.run([sys.argv[1], path], capture_output=True,
                                  text=True, timeout=60)
        if expected not in done.stderr:
            failures.append(f"expected {expected}, got {done.stderr}")
    finish(failures, 2)


if __name__ == "__main__":
    main()
