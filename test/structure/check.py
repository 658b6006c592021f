# SPDX-License-Identifier: Apache-2.0
"""The rules of the tree that a look at the text can check.

usage: check.py ROOT      prints each violation; exit status 1 if there is any
"""

import re
import subprocess
import sys
from pathlib import Path

CODE = {".h", ".cpp", ".cuh", ".cu", ".c", ".td", ".py", ".fbs"}
LONGEST = 600

# Folder, what it must not include, what it still may, each a pattern of a path.
# The first folder that fits a file decides.
FORBIDDEN = (
    ("codegen/device/host/", r"(ir|passes|compiler|llvm|google|Eigen)/", ""),
    (r"codegen/device/.*\.cuh", r"(ir|passes|compiler|llvm|google|Eigen|cuda/std)/"
     r"|(mma|cooperative_groups)\.h|cutlass/|<(vector|string|iostream)>",
     r"ir/scalar/"),
    ("runtime/", r"(ir|passes|codegen|compiler|llvm|google)/|nvrtc\.h"
     r"|cuda_runtime(_api)?\.h|onnx.*\.pb\.h", ""),
    ("ir/", r"(passes|codegen|compiler|runtime|google)/|nvrtc\.h|cuda"
     r"|onnx.*\.pb\.h", r"ir/|runtime/host/abi\.h"),
    ("passes/", r"(codegen|compiler|runtime|google)/|nvrtc\.h|cuda"
     r"|onnx.*\.pb\.h", r"passes/"),
    ("codegen/", r"(passes|compiler|runtime|google)/|cuda_runtime|cublas"
     r"|onnx.*\.pb\.h", r"codegen/|runtime/(plan|host)/"),
    ("compiler/tools/", r"cuda_runtime|cublas", ""),
    ("compiler/", r"runtime/|cuda_runtime|cublas",
     r"runtime/(plan/|bundle/Bundle(Builder|Format)\.h)"),
)
# Within ir/: only the generator links LLVM's TableGen, and includes nothing
# of ours; nothing needs Eigen (docs/decisions).
INSIDE_IR = (
    ("ir/tblgen/", r"ir/(?!tblgen/)"),
    ("ir/", r"llvm/TableGen/|Eigen/"),
)
WORDS = (
    (r"\b(TODO|FIXME|XXX|HACK)\b", "promises; do it, or leave it out"),
)
OPTION = r"\bcl::(opt|list|alias)\b"
OPTION_ALLOWED = ("compiler/tools/", "ir/tblgen/", "test/")
GETENV = r"\bgetenv\b"
GETENV_ALLOWED = ("compiler/Options", "compiler/tools/", "runtime/tools/",
                  "test/", "scripts/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"][^>"]+[>"])')


def rule_for(path, rules):
    return next((rule for rule in rules if re.match(rule[0], path)), None)


def violations_of(path, text):
    """Sentences on one file; path is relative to the root."""
    lines = text.splitlines()
    if len(lines) > LONGEST:
        yield f"{path}: {len(lines)} lines, at most {LONGEST}: split it"
    folder = rule_for(path, FORBIDDEN)
    inside = rule_for(path, INSIDE_IR)
    own = path.startswith("test/structure/")
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if found:
            name = found.group(1).strip('<>"')
            if folder and re.match(folder[1], name) or (
                    folder and re.match(folder[1], found.group(1))):
                if not (folder[2] and re.match(folder[2], name)):
                    yield (f"{path}:{number}: {folder[0]} must not include "
                           f"{name}")
            if inside and re.match(inside[1], name):
                yield f"{path}:{number}: {inside[0]} must not include {name}"
        if own:
            continue
        for pattern, why in WORDS:
            word = re.search(pattern, line)
            if word:
                yield f"{path}:{number}: '{word.group()}': {why}"
        if re.search(OPTION, line) and not path.startswith(OPTION_ALLOWED):
            yield f"{path}:{number}: command-line options belong to tools"
        if re.search(GETENV, line) and not path.startswith(GETENV_ALLOWED):
            yield (f"{path}:{number}: the environment is read in "
                   "compiler/Options and tools only")


def files(root):
    """The files that git knows or would add, or all of them elsewhere."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True)
    names = (listed.stdout.splitlines() if listed.returncode == 0 else
             [str(p.relative_to(root)) for p in root.rglob("*")])
    return [n for n in sorted(set(names))
            if Path(n).suffix in CODE and (root / n).is_file()]


def check(root):
    found, count = [], 0
    for name in files(root):
        count += 1
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        found += violations_of(name, text)
    return found, count


def main():
    found, count = check(Path(sys.argv[1]))
    print("\n".join(found))
    print(f"{count} files looked at, {len(found)} violations")
    sys.exit(1 if found or not count else 0)


if __name__ == "__main__":
    main()
