#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long ResNet-50 takes to compile and to run on the host, and how much
memory; each figure has a bound. The bounds are for two cores that nothing else
uses: --slack multiplies those of time, and where the processor time of all
threads is less than the time on the clock, that is what counts.

usage: figures.py [--build DIR] [--slack 2]
"""

import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import harness  # noqa: E402
import table  # noqa: E402

MODEL = table.MODELS["resnet50"]
SHAPE = "--shape=gpu_0/data_0=1x3x224x224"


def timed(command, environment):
    """(seconds, most memory in MB, how it ended) of a program. Seconds: of the
    clock, or of the processor where other work has held the program up."""
    start = time.time()
    child = os.posix_spawn(command[0], command, environment, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(child, 0)
    return (min(time.time() - start, used.ru_utime + used.ru_stime),
            used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))


class Figures:
    def __init__(self, slack):
        self.slack = slack
        self.counts = Counter()

    def add(self, what, value, bound, unit):
        allowed = bound * (self.slack if unit == "s" else 1)
        kind = "passed" if value <= allowed else "failed"
        self.counts[kind] += 1
        print(f"  {what:44} {value:8.2f} {unit:3} (at most {bound:g}): {kind}",
              flush=True)

    def fail(self, what, why):
        self.counts["failed"] += 1
        print(f"  {what}: failed: {why}", flush=True)


def compile_figures(figures, tools, folder):
    """Cold and warm, for a GPU (NVRTC) and for the host."""
    dlc = str(tools.folder / "dlc")
    environment = dict(tools.environment, XDG_CACHE_HOME=str(folder / "cache"))
    for title, more, bound in (
            ("sm_90a, cold cache", ["--target=sm_90a"], 30),
            ("sm_90a, warm cache", ["--target=sm_90a"], 5),
            ("host, cold cache", ["--target=host"], 15)):
        bundle = folder / "resnet50.bundle"
        seconds, memory, code = timed(
            [dlc, str(MODEL.file), SHAPE, *more, "-q", "-o", str(bundle)],
            environment)
        if code:
            figures.fail(f"dlc, {title}", f"status {code}")
            continue
        figures.add(f"dlc, {title}", seconds, bound, "s")
        if "cold" in title:
            figures.add(f"dlc, {title}, memory", memory, 2048, "MB")
    seconds, _, code = timed([dlc, str(MODEL.file), SHAPE, "--target=sm_90a",
                              "--emit=ir"], environment)
    if code:
        figures.fail("dlc --emit=ir", f"status {code}")
    else:
        figures.add("dlc, import and passes alone", seconds, 2, "s")


def run_figures(figures, tools, folder):
    """Loading and one run on the host, batch 1, at either precision."""
    data = folder / "data.npy"
    np.save(data, MODEL.case("picture").inputs()["gpu_0/data_0"])
    for precision, bound in (("fp16", 3), ("fp32", 6)):
        bundle = folder / f"{precision}.bundle"
        said = tools.call("dlc", MODEL.file, SHAPE, "--target=host", "-q",
                          f"--precision={precision}", "-o", bundle)
        if said.how != "done":
            figures.fail(f"dlc, host, {precision}", said.sentence)
            continue
        seconds, _, code = timed(
            [str(tools.folder / "dlc-run"), str(bundle), "--device=host",
             f"--input=gpu_0/data_0={data}", "--save", str(folder)],
            tools.environment)
        if code:
            figures.fail(f"dlc-run, host, {precision}", f"status {code}")
        else:
            figures.add(f"dlc-run, host, {precision}, load and one run",
                        seconds, bound, "s")


def main():
    parser = harness.arguments("Times of ResNet-50")
    parser.add_argument("--slack", default=1.0, type=float,
                        help="multiplies the bounds of time")
    options = parser.parse_args()
    tools = harness.Tools(options.build)
    figures = Figures(options.slack)
    with tempfile.TemporaryDirectory() as folder:
        compile_figures(figures, tools, Path(folder))
        run_figures(figures, tools, Path(folder))
    harness.finish("figures", figures.counts, options)


if __name__ == "__main__":
    main()
