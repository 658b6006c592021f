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
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' scripts/test-gpu.sh
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
# A machine without a network may have the Python packages already.
python=.venv/bin/python
if [ ! -x "$python" ]; then
  if python3 -c 'import numpy, onnx, onnxruntime, PIL' 2>/dev/null; then
    python=python3
  else
    scripts/setup.sh --python-only || die "the set-up failed, see above"
  fi
fi
libraries=$(realpath "$folder/lib")
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[ -e .models/squeezenet.onnx ] || "$python" scripts/models.py ||
  die "the models are not here, see above"
. scripts/environment.sh

status=0
if "$python" -c 'import torch, torchvision, transformers' 2>/dev/null; then
  echo "test-gpu: test/bench/bench.py"
  "$python" test/bench/bench.py --build "$folder" || status=1
else
  echo "test-gpu: no bench: it compares with PyTorch and needs the Python packages torch, torchvision, transformers"
fi
if [ -n "$tests" ]; then
  # Each job may hold a context on the GPU.
  jobs=$(($(nproc) < 8 ? $(nproc) : 8))
  "$python" scripts/run_tests.py --gpu --build "$folder" -j "$jobs" $quick ||
    status=1
fi
exit $status
