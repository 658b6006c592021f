# SPDX-License-Identifier: Apache-2.0
"""docs/operators.md out of what run.py saw."""

import re
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "operators.md"
HEAD = """# ONNX operators

Written by `test/conformance/run.py --write` from what it saw; do not edit. For each operator of the onnx package's own
backend tests ({version}): how many of its tests pass on the reference evaluator and as host kernels, the element types
in those that pass, and what the others were refused for. Tests of an operator's function body ("expanded") count under
the operators that the body uses, if it is only one.

| operator | reference | host kernels | element types | restrictions seen |
|---|---|---|---|---|
"""
SHORT = {"float": "f32", "float16": "f16", "double": "f64", "bfloat16": "bf16",
         "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
         "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8"}


def general(sentence):
    """A refusal without what is special to its test: places and names."""
    sentence = re.sub(r"^[^ ]*model\.onnx[^ ]*:? ?", "", sentence)
    sentence = re.sub(r"^node [^:]*: ", "", sentence)
    sentence = sentence.replace("|", "\\|")
    return sentence if len(sentence) < 90 else sentence[:87] + "..."


def row(operator, cases, passing, refused):
    """(whether anything passes, the line of the table)."""
    names = [case.name for case in cases]
    passed = {way: {n for n in names if n in passing.get(way, {})}
              for way in ("reference", "host")}
    types = sorted({SHORT.get(t, t) for case in cases for t in
                    case.element_types if case.name in passed["reference"] or
                    case.name in passed["host"]})
    why = Counter(general(refused[way][n]) for way in ("reference", "host")
                  for n in names if n in refused.get(way, {}))
    unfit = {case.unfit for case in cases if case.unfit}
    notes = [text for text, _ in why.most_common(2)] + sorted(unfit)
    line = (f"| {operator} | {len(passed['reference'])} of {len(names)} "
            f"| {len(passed['host'])} of {len(names)} | {' '.join(types)} "
            f"| {'; '.join(notes)} |")
    return bool(passed["reference"] or passed["host"]), line


def write(cases, passing, refused):
    import onnx
    groups = {}
    for case in cases:
        if len(case.operators) == 1:
            groups.setdefault(case.operators[0], []).append(case)
    lines, others = [], []
    for operator, group in sorted(groups.items()):
        works, line = row(operator, group, passing, refused)
        lines += [line] if works else []
        others += [] if works else [operator]
    PAGE.write_text(
        HEAD.format(version=f"onnx {onnx.__version__}, opset "
                            f"{onnx.defs.onnx_opset_version()}") +
        "\n".join(lines) +
        "\n\nNone of their tests passes: " + ", ".join(others) + ".\n")
