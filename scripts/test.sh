#!/usr/bin/env bash
# Sets up, builds, and runs every test that needs no GPU. The last line counts
# them all; the exit status is 0 when none failed.
#   --quick      the tests of a few minutes: no whole models but small ones
#   --no-setup   what is installed is enough; only build and test
#   --no-build   also what is built is enough
#   --build DIR  the build folder (default: build)
#   -j N         this many jobs (default: one per core)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

say() { printf 'test: %s\n' "$*"; }
die() {
  printf 'test: error: %s\n' "$*" >&2
  exit 1
}

quick='' setup=1 build=1 folder=build jobs=$(nproc)
while [ $# -gt 0 ]; do
  case $1 in
  --quick) quick=--quick ;;
  --no-setup) setup='' ;;
  --no-build) setup='' build='' ;;
  --build) folder=${2:?--build needs a folder} && shift ;;
  -j) jobs=${2:?-j needs a number} && shift ;;
  -h | --help)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' scripts/test.sh
    exit 0
    ;;
  *) die "unknown option '$1'; --help lists the options" ;;
  esac
  shift
done

begin=$SECONDS
if [ -n "$setup" ]; then
  scripts/setup.sh || die "the set-up failed, see above"
  .venv/bin/python scripts/models.py || die "the models are not here, see above"
fi
. scripts/environment.sh

if [ -n "$build" ]; then
  say "building in $folder with $jobs jobs"
  cmake -S . -B "$folder" -G Ninja -DDLC_PYTHON=ON >"$folder.log" 2>&1 || {
    tail -n 20 "$folder.log"
    die "cmake could not configure $folder, see above"
  }
  rm -f "$folder.log"
  ninja -C "$folder" -j "$jobs" || die "the build failed, see above"
  say "built after $((SECONDS - begin)) s"
fi

.venv/bin/python scripts/run_tests.py --build "$folder" -j "$jobs" $quick
