#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests of a build and counts them: CTest, lit, and the programs of
test/ that write their own counts. Ends with one line for all of them.

A runner is a program that prints what failed and, told --counts FILE, writes
{"passed": n, "failed": n, "skipped": n} into it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# lit is no module that python -m runs.
LIT = "from lit.main import main; main()"
KINDS = ("passed", "failed", "skipped")

TEST = ROOT / "test"


@dataclass
class Runner:
    """A program that counts its own tests."""
    name: str
    program: Path
    quick: bool = True  # has something to run under --quick
    cpu: bool = True  # has something to run without a GPU
    gpu: bool = False  # has something to run on a GPU
    arguments: tuple = ()


# In the order in which they run.
RUNNERS = (
    Runner("refusals", TEST / "refusals" / "run.py"),
    Runner("kernels", TEST / "kernels" / "run_gpu.py", cpu=False, gpu=True),
    Runner("conformance", TEST / "conformance" / "run.py", gpu=True),
    Runner("meaning", TEST / "ir" / "reference" / "run_bundles.py",
           quick=False, gpu=True),
    Runner("faults", TEST / "faults" / "run.py", gpu=True),
    Runner("models", TEST / "models" / "run.py", gpu=True),
    Runner("models, reference", TEST / "models" / "run.py", quick=False,
           arguments=("--target", "reference")),
    Runner("same bytes", TEST / "models" / "same_bytes.py"),
    # Other work on the machine must not fail a test of times.
    Runner("figures", TEST / "models" / "figures.py", quick=False,
           arguments=("--slack=2",)),
)


def say(text):
    print(f"test: {text}", flush=True)


def run_ctest(build, jobs, report, options):
    """Everything CTest knows but lit, which is counted test by test."""
    command = ["ctest", "--test-dir", str(build), "-j", str(jobs),
               "--output-on-failure", "--no-tests=error", "-LE",
               "lit|slow" if options.quick else "lit",
               "--output-junit", str(report)]
    say("CTest")
    subprocess.run(with_progress(command), stdin=subprocess.DEVNULL)
    if not report.exists():
        return {"passed": 0, "failed": 1, "skipped": 0}
    suite = xml.parse(report).getroot()
    total, failed, skipped = (int(suite.get(k, 0))
                              for k in ("tests", "failures", "skipped"))
    skipped += int(suite.get("disabled", 0))
    return {"passed": total - failed - skipped, "failed": failed,
            "skipped": skipped}


def with_progress(command):
    """CTest's line per test is only wanted where something failed."""
    return [*command, "--progress"] if sys.stdout.isatty() else command


def run_lit(build, jobs, report, options):
    say("lit")
    command = [sys.executable, "-c", LIT, "-s", "-v", "-j", str(jobs),
               "--no-progress-bar", "-o", str(report)]
    subprocess.run([*command, str(build / "test")], stdin=subprocess.DEVNULL)
    counts = dict.fromkeys(KINDS, 0)
    if not report.exists():
        return {"passed": 0, "failed": 1, "skipped": 0}
    kinds = {"PASS": "passed", "XFAIL": "passed", "FLAKYPASS": "passed",
             "UNSUPPORTED": "skipped", "SKIPPED": "skipped",
             "EXCLUDED": "skipped"}
    for test in json.loads(report.read_text())["tests"]:
        counts[kinds.get(test["code"], "failed")] += 1
    return counts


def run_program(runner, build, jobs, report, options):
    say(runner.name)
    command = [sys.executable, str(runner.program), "--build", str(build),
               "-j", str(jobs), "--counts", str(report), *runner.arguments]
    if options.quick:
        command.append("--quick")
    if options.gpu:
        command += ["--target", "gpu"]
    code = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    if not report.exists():
        say(f"{runner.name} ended with status {code} and no counts")
        return {"passed": 0, "failed": 1, "skipped": 0}
    return json.loads(report.read_text())


def main():
    parser = argparse.ArgumentParser(description="Runs all tests of a build")
    parser.add_argument("--build", default="build", type=Path)
    parser.add_argument("-j", "--jobs", default=1, type=int)
    parser.add_argument("--quick", action="store_true",
                        help="leave out what takes minutes")
    parser.add_argument("--gpu", action="store_true",
                        help="whole models and ONNX's tests on the GPU")
    options = parser.parse_args()
    build = options.build.resolve()
    # A build folder that was copied to a GPU machine has no CTest files, and
    # that machine no FileCheck; texts do not depend on a GPU.
    suites = [] if options.gpu else [("CTest", run_ctest), ("lit", run_lit)]
    for runner in RUNNERS:
        if (runner.quick or not options.quick) and (
                runner.gpu if options.gpu else runner.cpu):
            suites.append((runner.name, partial(run_program, runner)))
    total = dict.fromkeys(KINDS, 0)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, suite in suites:
            start = time.time()
            counts = suite(build, options.jobs, Path(folder) / name, options)
            rows.append((name, counts, time.time() - start))
            for kind in KINDS:
                total[kind] += counts[kind]
    for name, counts, seconds in rows:
        # Not in the words of the closing line, which is to be the only one.
        print(f"  {name:18} {counts['passed']:5} ok {counts['failed']:5} bad "
              f"{counts['skipped']:5} left out {seconds:7.1f} s")
    print(", ".join(f"{total[kind]} {kind}" for kind in KINDS), flush=True)
    sys.exit(1 if total["failed"] or not total["passed"] else 0)


if __name__ == "__main__":
    main()
