# SPDX-License-Identifier: Apache-2.0
"""Runs every module of this folder on the GPU beside the reference, as kernels
for its architecture and as PTX. Prints what differs; status 1 then."""

import concurrent.futures
import glob
import os
import re
import subprocess
import sys

folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
nvrtc = os.environ.get("DLC_NVRTC", "")


def run(case):
    path, target = case
    with open(path) as text:
        # The bound is the one that the file's own runs ask for.
        bound = re.search(r"--tolerance=(\S+)", text.read())
    command = ["dlc-codegen", path, "--target=" + target, "--symbol=N=3",
               "--symbol=S=5", "--run", "--gpu", "--nvrtc=" + nvrtc]
    if bound:
        command.append(bound.group(0))
    done = subprocess.run(command, capture_output=True, text=True)
    good = done.returncode == 0 and "DIFFERENT" not in done.stdout
    return path, target, good, done.stdout + done.stderr


targets = sys.argv[1:] or ["sm_90a", "portable"]
cases = [(path, target) for path in sorted(glob.glob(folder + "/*.dlc"))
         for target in targets]
failed = 0
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for path, target, good, output in pool.map(run, cases):
        if not good:
            failed += 1
            print("%s for %s:\n%s" % (os.path.basename(path), target, output))
print("%d runs, %d failed" % (len(cases), failed))
sys.exit(failed != 0)
