#!/usr/bin/env bash
# Sets up, builds, and shows dlc at work: reads the text on a photographed page
# with a pipeline that nobody here wrote, once on onnxruntime and once on dlc.
#   --no-setup     what is installed is enough
#   --build DIR    the build folder (default: build)
#   --host         on this machine's CPU even where a GPU is
#   --precision P  fp32 (default) or fp16
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

say() { printf 'demo: %s\n' "$*"; }
die() {
  printf 'demo: error: %s\n' "$*" >&2
  exit 1
}

setup=1 folder=build arguments=()
while [ $# -gt 0 ]; do
  case $1 in
  --no-setup) setup='' ;;
  --build) folder=${2:?--build needs a folder} && shift ;;
  --host) arguments+=(--device host) ;;
  --precision) arguments+=(--precision "${2:?--precision needs a name}") && shift ;;
  -h | --help)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' scripts/demo.sh
    exit 0
    ;;
  *) die "unknown option '$1'; --help lists the options" ;;
  esac
  shift
done

if [ -n "$setup" ]; then
  scripts/setup.sh || die "the set-up failed, see above"
  .venv/bin/python scripts/models.py ocr_det ocr_cls ocr_rec magika ||
    die "the models are not here, see above"
fi
. scripts/environment.sh

if [ ! -e "$folder/build.ninja" ] || ! grep -q DLC_PYTHON:BOOL=ON "$folder/CMakeCache.txt"; then
  say "configuring $folder"
  mkdir -p "$folder"
  cmake -S . -B "$folder" -G Ninja -DDLC_PYTHON=ON >"$folder/configure.log" 2>&1 || {
    tail -n 20 "$folder/configure.log"
    die "cmake could not configure $folder, see above"
  }
fi
say "building the tools and the Python package in $folder"
ninja -C "$folder" dlc dlc-run dlc-opt dlc-inspect dlc_python || die "the build failed, see above"

exec .venv/bin/python scripts/demo.py --build "$folder" "${arguments[@]}"
