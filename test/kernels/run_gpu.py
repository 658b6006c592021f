#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the unit tests that need a GPU: the CUDA sessions of the runtime, the
device templates, compiled here for this machine's GPU by NVRTC, and the Python
package on arrays in GPU memory.

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
KERNELS = {"AttentionTest": "attention.cu", "ContractionTest": "contraction.cu",
           "ImageConvTest": "image_conv.cu", "TmaTest": "tma.cu",
           "WindowTest": "window.cu"}


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


def run_python(build):
    """Counts of test/python/test_gpu.py."""
    environment = dict(os.environ, PYTHONPATH=str(build / "python"))
    def python(*command):
        return subprocess.run([sys.executable, *command], capture_output=True,
                              text=True, env=environment,
                              cwd=HERE.parent / "python")
    found = python("-c", "import dlc, torch")
    if found.returncode:
        print("Python package: left out, since "
              + found.stderr.strip().splitlines()[-1])
        return {"skipped": 1}
    done = python("-m", "unittest", "-v", "test_gpu")
    lines = [line for line in done.stderr.splitlines() if " ... " in line]
    counts = {"passed": sum(line.endswith("ok") for line in lines),
              "skipped": sum("skipped" in line for line in lines)}
    counts["failed"] = len(lines) - sum(counts.values())
    if done.returncode or not lines:
        print(done.stderr[-4000:])
        counts["failed"] = max(counts["failed"], 1)
    print(f"Python package: {counts}")
    return counts


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
    for kind, count in run_python(build).items():
        total[kind] += count
    harness.finish("kernels", total, options)


if __name__ == "__main__":
    main()
