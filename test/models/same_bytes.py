#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One model, the same bundle, byte for byte: built in other folders, with
other numbers of threads, with a cold and a warm cache, and on a CPU that glibc
and Eigen are told to see differently.

usage: same_bytes.py [--build DIR] [MODEL ...]     (default: a few)
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import harness  # noqa: E402
import table  # noqa: E402

# No AVX2, no FMA, small caches: other code paths in libm and in products.
OTHER_CPU = ("glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-AVX2_Usable,-FMA_Usable:"
             "glibc.cpu.x86_data_cache_size=0x4000:"
             "glibc.cpu.x86_shared_cache_size=0x40000")


def build(tools, model, place, jobs, cache, environment):
    """The bundle's hash, or a sentence on why there is none."""
    place.mkdir(parents=True)
    copy = place / model.file.name
    shutil.copy(model.file, copy)
    shape = next(iter(model.cases)).inputs()
    command = [str(tools.folder / "dlc"), copy.name, "-q", f"-j={jobs}",
               "--target=sm_90a,portable", "-o", "out.bundle"]
    command += [f"--shape={name}={'x'.join(map(str, value.shape))}"
                for name, value in shape.items()]
    command += [f"--bind={n}={v}" for n, v in model.binds.items()]
    done = subprocess.run(
        command, cwd=place, capture_output=True, text=True,
        stdin=subprocess.DEVNULL,
        env=dict(tools.environment, XDG_CACHE_HOME=str(cache), **environment))
    if done.returncode:
        return None, (done.stdout + done.stderr).strip()
    digest = hashlib.sha256((place / "out.bundle").read_bytes()).hexdigest()
    return digest, ""


def check(tools, model, folder):
    """Whether all builds agree; says which do not."""
    shutil.rmtree(folder, ignore_errors=True)
    ways = (
        ("first", "a", 2, "one", {}),
        ("another folder, one thread, cold cache", "b/deeper/down", 1, "two",
         {}),
        ("another CPU, cold cache", "c", 2, "three",
         {"GLIBC_TUNABLES": OTHER_CPU}),
        ("warm cache", "d", 2, "one", {"LC_ALL": "C", "TZ": "Asia/Tokyo"}),
    )
    first, good = None, True
    for title, place, jobs, cache, environment in ways:
        digest, sentence = build(tools, model, folder / place, jobs,
                                 folder / "cache" / cache, environment)
        if digest is None:
            print(f"{model.name}, {title}: {sentence}", flush=True)
            return False
        first = first or digest
        if digest != first:
            print(f"{model.name}, {title}: other bytes", flush=True)
            good = False
    return good


def main():
    parser = harness.arguments("Byte-identical bundles")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    options = parser.parse_args()
    names = options.models or (["ocr_cls"] if options.quick else
                               ["ocr_cls", "squeezenet", "vad_sequence"])
    tools = harness.Tools(options.build)
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            good = check(tools, table.MODELS[name], Path(folder) / name)
            counts["passed" if good else "failed"] += 1
            print(f"{name}: {'the same bytes' if good else 'failed'}",
                  flush=True)
    harness.finish("same bytes", counts, options)


if __name__ == "__main__":
    main()
