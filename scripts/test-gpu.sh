#!/usr/bin/env bash
# Runs the tests and the benches that need a GPU, with binaries built already:
# here, or on another machine and copied (a build folder and this checkout are
# enough; neither LLVM nor protobuf is needed).
#   --build DIR  the build folder (default: build)
#   --quick      the tests of a few minutes
#   --bench      only the benches
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

die() {
  printf 'test-gpu: error: %s\n' "$*" >&2
  exit 1
}

quick='' folder=build tests=1
while [ $# -gt 0 ]; do
  case $1 in
  --build) folder=${2:?--build needs a folder} && shift ;;
  --quick) quick=--quick ;;
  --bench) tests='' ;;
  -h | --help)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *) die "unknown option '$1'; --help lists the options" ;;
  esac
  shift
done

command -v nvidia-smi >/dev/null && nvidia-smi -L ||
  die "no NVIDIA GPU with its driver on this machine"
[ -x "$folder/bin/dlc-run" ] ||
  die "no $folder/bin/dlc-run: build first (scripts/test.sh), or copy a build folder here"
python=.venv/bin/python
if [ ! -x "$python" ]; then
  scripts/setup.sh --python-only || die "the set-up failed, see above"
fi
[ -e .models/squeezenet.onnx ] || "$python" scripts/models.py ||
  die "the models are not here, see above"
. scripts/environment.sh

status=0
for bench in test/bench/*.py; do
  if [ -e "$bench" ] && [ -n "$(sed -n '/__main__/p' "$bench")" ]; then
    echo "test-gpu: $bench"
    "$python" "$bench" --build "$folder" || status=1
  fi
done
if [ -n "$tests" ]; then
  "$python" scripts/run_tests.py --gpu --build "$folder" -j 4 $quick || status=1
fi
exit $status
