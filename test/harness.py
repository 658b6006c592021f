# SPDX-License-Identifier: Apache-2.0
"""What the Python test runners share: calling the built tools, work on several
cores with progress, and the counts that scripts/run_tests.py adds up."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Said:
    """How a tool ended: 'done', 'refused' (the user's fault, by its words) or
    'broken' (a crash, a time-out, an error without a sentence)."""
    how: str
    text: str
    seconds: float

    @property
    def sentence(self):
        """The first error, without the tool's name."""
        for line in self.text.splitlines():
            found = re.search(r"\berror: (.*)", line)
            if found:
                return found.group(1)
        lines = self.text.strip().splitlines()
        return lines[-1] if lines else "no output"


class Tools:
    def __init__(self, build):
        self.folder = Path(build).resolve() / "bin"
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(
            Path(build).resolve() / "test-cache"))

    def has(self, name):
        return os.access(self.folder / name, os.X_OK)

    def call(self, name, *arguments, timeout=600):
        start = time.time()
        command = [str(self.folder / name), *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True,
                                  errors="replace", timeout=timeout,
                                  env=self.environment,
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return Said("broken", f"error: no end after {timeout} s", timeout)
        seconds = time.time() - start
        text = done.stdout + done.stderr
        if done.returncode == 0:
            return Said("done", text, seconds)
        if done.returncode < 0 or done.returncode > 128:
            number = (-done.returncode if done.returncode < 0
                      else done.returncode - 128)
            try:
                what = signal.Signals(number).name
            except ValueError:
                what = f"status {done.returncode}"
            return Said("broken", f"error: {name} ended by {what}\n{text}",
                        seconds)
        sentence = re.search(r"\berror: ", text) and "internal" not in text
        return Said("refused" if sentence else "broken", text, seconds)


def output_file(folder, value):
    """Where dlc-run --save puts an output."""
    return Path(folder) / (re.sub(r"[^A-Za-z0-9]", "_", value) + ".npy")


def load_npy(path, dtype):
    """An .npy file as dtype: .npy has no names for the narrow float types, so
    their bits may come as plain integers or bytes of the same size."""
    array = np.load(path)
    if array.dtype != dtype and array.dtype.itemsize == dtype.itemsize and (
            array.dtype.kind in ("Vi" if dtype.name == "int4" else "Vu")
            and dtype.kind not in "iub"):
        array = array.view(dtype)
    return array


def spread(work, items, jobs, name):
    """[(item, work(item))] in the order of items; says how far it is."""
    results = {}
    shown = time.time()
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        futures = {pool.submit(work, item): index
                   for index, item in enumerate(items)}
        for future in as_completed(futures):
            results[futures[future]] = future.result()
            if time.time() - shown > 20:
                shown = time.time()
                print(f"{name}: {len(results)} of {len(items)}", flush=True)
    return [(item, results[index]) for index, item in enumerate(items)]


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", default=ROOT / "build", type=Path,
                        help="the build folder")
    parser.add_argument("-j", "--jobs", default=os.cpu_count(), type=int)
    parser.add_argument("--quick", action="store_true",
                        help="leave out what takes minutes")
    parser.add_argument("--target", default="host", choices=("host", "gpu", "reference"))
    parser.add_argument("--counts", type=Path, metavar="FILE",
                        help="write the counts as JSON")
    return parser


def finish(name, counts, options):
    """Prints and stores the counts, and ends with their status."""
    kinds = ("passed", "failed", "skipped")
    full = {kind: counts.get(kind, 0) for kind in kinds}
    if options.counts:
        options.counts.write_text(json.dumps(full))
        print(f"{name}: " + ", ".join(f"{full[k]} {k}" for k in kinds) + ".")
    else:
        print(", ".join(f"{full[kind]} {kind}" for kind in kinds))
    sys.exit(1 if full["failed"] else 0)
