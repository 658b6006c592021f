#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the GoogleTests that need a GPU: the CUDA sessions of the runtime, and
the device templates, compiled here for this machine's GPU by NVRTC.

Needs programs of a build folder alone, so that the folder may come from
another machine.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

HERE = Path(__file__).resolve().parent
# Test programs; and of those whose kernels are compiled here, their sources.
RUNTIME = ("CudaDriverTest", "CudaSessionTest")
KERNELS = {"ContractionTest": "contraction.cu", "WindowTest": "window.cu"}


def architecture():
    """As NVRTC names it: 90a for a Hopper GPU, 89 for an Ada one."""
    said = subprocess.run(
        ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
        capture_output=True, text=True, check=True).stdout
    number = said.splitlines()[0].strip().replace(".", "")
    return number + ("a" if int(number) >= 90 else "")


def run(program, environment, folder):
    """Counts of one GoogleTest program; its whole output where it failed."""
    report = folder / f"{program.name}.json"
    done = subprocess.run([program, f"--gtest_output=json:{report}"],
                          capture_output=True, text=True, errors="replace",
                          env=environment)
    try:
        cases = [case for suite in json.loads(report.read_text())["testsuites"]
                 for case in suite["testsuite"]]
    except (OSError, ValueError):
        cases = []
    failed = sum("failures" in case for case in cases)
    skipped = sum(case["result"] == "SKIPPED" for case in cases)
    if done.returncode or not cases:
        print(done.stdout[-4000:] + done.stderr[-4000:])
        failed = max(failed, 1)
    passed = max(len(cases) - failed - skipped, 0)
    print(f"{program.name}: {passed} ok, {failed} bad, {skipped} left out")
    return {"passed": passed, "failed": failed, "skipped": skipped}


def main():
    parser = harness.arguments(__doc__.splitlines()[0])
    options = parser.parse_args()
    build = Path(options.build).resolve()
    programs = build / "test" / "bin"
    total = dict.fromkeys(("passed", "failed", "skipped"), 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = dict(os.environ)
        compiled = subprocess.run(
            [build / "bin" / "nvrtc_check", "--cubins", folder, build / "device",
             architecture(), *(HERE / s for s in KERNELS.values())],
            capture_output=True, text=True)
        if compiled.returncode:
            print(compiled.stdout + compiled.stderr)
        for program in RUNTIME + tuple(KERNELS):
            if program in KERNELS:
                environment["DLC_TEST_CUBINS"] = str(folder)
            for kind, count in run(programs / program, environment,
                                   folder).items():
                total[kind] += count
    harness.finish("kernels", total, options)


if __name__ == "__main__":
    main()
