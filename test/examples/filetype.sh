#!/usr/bin/env bash
# The example of the README: find_package(dlc), a model compiled in the build
# and embedded, run on the host. usage: filetype.sh SOURCE BUILD COMPILER
set -euo pipefail
source=$1 build=$2
[ -e "$source/.models/magika.onnx" ] || {
  echo "no .models/magika.onnx: run .venv/bin/python scripts/models.py magika"
  exit 77
}
place=$build/test-install
rm -rf "$place"
cmake --install "$build" --prefix "$place/dlc" >"$build/test-install.log"
cmake -S "$source/docs/examples/filetype" -B "$place/example" -G Ninja \
  -DCMAKE_CXX_COMPILER="$3" -DCMAKE_PREFIX_PATH="$place/dlc" \
  -DMODELS="$source/.models" -DFILETYPE_TARGETS=host
cmake --build "$place/example"
"$place/example/filetype" --host "$source/CMakeLists.txt" \
  "$source/scripts/models.py" "$source/scripts/setup.sh" | tee "$place/said"
said() { # the sentence that a command ends with, which has to fail
  if "$place/example/filetype" "${@:2}" 2>"$place/error"; then exit 1; fi
  grep -qxF "$1" "$place/error"
}
said 'usage: filetype [--host] FILE...' --host
said "filetype: $place/none: cannot be read" --host "$place/none"
said "filetype: $place: cannot be read" --host "$place"
grep -q 'CMakeLists.txt: cmake' "$place/said"
grep -q 'models.py: python' "$place/said"
grep -q 'setup.sh: shell' "$place/said"
