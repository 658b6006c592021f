#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names the ops of a manual (docs/ops.md) that have no test of their meaning,
test/ir/reference/<mnemonic>.dlc, and the tests that belong to no op."""

import re
import sys
from pathlib import Path

manual, folder = Path(sys.argv[1]), Path(sys.argv[2])
ops = set(re.findall(r"^### (\w+)$", manual.read_text(), re.MULTILINE))
tests = {p.stem for p in folder.glob("*.dlc")}
if not ops:
    sys.exit(f"{manual} lists no op")
for op in sorted(ops - tests):
    print(f"op {op} has no test {folder / op}.dlc")
print(f"{len(ops & tests)} of {len(ops)} ops have a test of their meaning")
sys.exit(bool(ops - tests))
