# SPDX-License-Identifier: Apache-2.0
"""What a dlc that is killed leaves behind, and what removes it.

usage: killed.py DLC MODEL CXX
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DLC, MODEL, CXX = sys.argv[1:]
# Waits for a file before it compiles anything.
SLOW = """#!/bin/sh
case "$*" in *--version*) ;; *)
  touch {place}/$NAME.waits
  while [ ! -e {place}/$NAME.goes ]; do sleep 0.02; done ;;
esac
exec {cxx} "$@"
"""
failures = []


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found!r}, expected {wanted!r}")


def wait_for(path):
    end = time.time() + 60
    while not path.exists():
        assert time.time() < end, f"no {path}"
        time.sleep(0.02)


def wait_for_compilers(process):
    """Those that it started and that outlived it, and write files still."""
    end = time.time() + 60
    while time.time() < end:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    raise AssertionError("its compilers run on")


def test(place):
    temporary = place / "tmp"
    temporary.mkdir()
    slow = place / "slow"
    slow.write_text(SLOW.format(place=place, cxx=shutil.which(CXX)))
    slow.chmod(0o755)

    def folders():
        return set(temporary.iterdir())

    def start(name, cxx=slow):
        return subprocess.Popen(
            [DLC, MODEL, "-q", "--target=host", "--no-cache", "-o",
             place / f"{name}.bundle"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env={**os.environ, "TMPDIR": str(temporary), "NAME": name,
                 "CXX": str(cxx)})

    def waiting(name):
        before = folders()
        process = start(name)
        wait_for(place / f"{name}.waits")
        return process, folders() - before

    killed, left = waiting("killed")
    killed.kill()
    killed.wait()
    (place / "killed.goes").touch()
    expect("of a killed one", len(left), 1)
    wait_for_compilers(killed)
    expect("nobody else is there", folders(), left)

    # One that runs keeps its folder when the next one starts.
    runs, used = waiting("runs")
    expect("the next one removes", folders(), used)
    unlike = temporary / "dlc-hosting"
    unlocked = temporary / "dlc-host-unlocked"
    old = temporary / "dlc-host-old"
    for folder in (unlike, unlocked, old):
        folder.mkdir()
        (folder / "x.o").touch()
    os.utime(old, (time.time() - 7200,) * 2)
    link = temporary / "dlc-host-link"
    link.symlink_to(unlike)
    quick = start("quick", shutil.which(CXX))
    expect("quick", (quick.communicate()[0], quick.returncode), ("", 0))
    expect("what is in use or not its own stays", folders(),
           used | {unlike, unlocked, link})
    expect("what lies in it", (unlike / "x.o").exists(), True)
    (place / "runs.goes").touch()
    expect("runs", (runs.communicate()[0], runs.returncode), ("", 0))
    rest = {unlike, unlocked, link}
    expect("a good end", folders(), rest)

    for number in (signal.SIGTERM, signal.SIGINT):
        name = number.name
        asked, used = waiting(name)
        expect(f"{name}: its folder", len(used), 1)
        asked.send_signal(number)
        time.sleep(0.1)
        (place / f"{name}.goes").touch()
        said = asked.communicate()[0]
        expect(name, (said, asked.returncode), ("dlc: error: cancelled\n", 1))
        expect(f"{name} leaves", folders(), rest)
        expect(f"{name}: a bundle", (place / f"{name}.bundle").exists(), False)
    twice, used = waiting("twice")
    while twice.poll() is None:
        twice.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    expect("twice", twice.returncode, -signal.SIGTERM)
    (place / "twice.goes").touch()
    wait_for_compilers(twice)
    expect("bundles", {p.name for p in place.glob("*.bundle*")},
           {"runs.bundle", "quick.bundle"})


with tempfile.TemporaryDirectory() as folder:
    test(Path(folder))
print("\n".join(failures))
sys.exit(1 if failures else 0)
