#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input: models that dlc has to refuse, and inputs that dlc-run has to
refuse. Each must end with status 1 and a sentence with the words given here,
must not crash, and must leave no file behind."""

import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import harness  # noqa: E402
import models  # noqa: E402
import runs  # noqa: E402


def judge(said, words, left):
    """What is wrong with how a tool refused; nothing if all is well."""
    if said.how == "done":
        return "it was accepted"
    if said.how == "broken":
        return f"no refusal: {said.sentence}"
    for word in words:
        if not re.search(word, said.text, re.IGNORECASE):
            return f"'{word}' is not in: {said.text.strip()[:300]}"
    if left:
        return "files were left behind: " + ", ".join(left)
    return ""


def refuse_model(tools, case):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "model"
        place.mkdir()
        file = place / "model.onnx"
        case.write(file)
        before = {p.name for p in place.iterdir()}
        said = tools.call("dlc", file, "--target=host", "-q", "-o",
                          place / "model.bundle", *case.options, timeout=60)
        left = sorted({p.name for p in place.iterdir()} - before)
        return judge(said, case.words, left)


def refuse_run(tools, bundles, case):
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "saved"
        said = tools.call("dlc-run", bundles[case.bundle],
                          *case.arguments(Path(folder)), "--save", saved,
                          timeout=60)
        left = [p.name for p in saved.iterdir()] if saved.exists() else []
        return judge(said, case.words, left)


def main():
    parser = harness.arguments("Models and inputs that have to be refused")
    options = parser.parse_args()
    tools = harness.Tools(options.build)
    results = []
    for case in models.CASES:
        results.append((case.name, refuse_model(tools, case)))
    with tempfile.TemporaryDirectory() as folder:
        bundles, problem = runs.build(tools, Path(folder))
        for case in runs.CASES:
            results.append((case.name, problem or
                            refuse_run(tools, bundles, case)))
    counts = Counter()
    for name, problem in results:
        counts["failed" if problem else "passed"] += 1
        if problem:
            print(f"{name}: {problem}", flush=True)
    harness.finish("refusals", counts, options)


if __name__ == "__main__":
    main()
