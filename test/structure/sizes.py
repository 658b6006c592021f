# SPDX-License-Identifier: Apache-2.0
"""What the runtime library weighs and what it needs, and whether a copy of the
build's programs to a GPU machine is small and runs there.

usage: sizes.py BUILD
"""

import subprocess
import sys
import tempfile
from pathlib import Path

RUNTIME_MB, PROGRAMS_MB = 1.5, 60
# The C and C++ libraries, which every machine has.
SYSTEM = ("libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "ld-linux",
          "libpthread.so", "libdl.so")


def needed(file):
    """The shared libraries that a program or library names."""
    said = subprocess.run(["readelf", "-d", str(file)], capture_output=True,
                          text=True, check=True).stdout
    return [line.split("[")[1].split("]")[0] for line in said.splitlines()
            if "(NEEDED)" in line]


def stripped(file):
    """Its size in MB without symbols."""
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run(["strip", "-o", copy.name, str(file)], check=True)
        return Path(copy.name).stat().st_size / 2**20


def main():
    build = Path(sys.argv[1])
    # Links to a file of another version name are not counted twice.
    libraries = [f for f in build.glob("lib/libdlc*.so*")
                 if not f.is_symlink()]
    programs = [build / "bin" / name for name in
                ("dlc", "dlc-opt", "dlc-run", "dlc-eval", "dlc-inspect")
                if (build / "bin" / name).exists()]
    problems = []
    runtime = [f for f in libraries if f.name.startswith("libdlc_runtime")]
    if not runtime:
        problems.append("no libdlc_runtime in the build")
    total = 0
    for file in libraries + programs:
        size = stripped(file)
        total += size
        own = [lib for lib in needed(file) if not lib.startswith(SYSTEM)]
        print(f"{file.relative_to(build)}: {size:.2f} MB, needs "
              f"{', '.join(own) or 'nothing but the C and C++ libraries'}")
        if file in runtime and size > RUNTIME_MB:
            problems.append(f"{file.name}: {size:.2f} MB, at most {RUNTIME_MB}")
        foreign = [lib for lib in own if not (
            file in programs and lib.startswith("libdlc"))]
        if foreign:
            problems.append(f"{file.name} needs {', '.join(foreign)}")
    if total > PROGRAMS_MB:
        problems.append(f"programs and libraries: {total:.1f} MB, at most "
                        f"{PROGRAMS_MB}")
    print("\n".join(problems))
    print(f"{len(libraries + programs)} files, {total:.1f} MB, "
          f"{len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
