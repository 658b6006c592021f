#!/usr/bin/env bash
# Copies out of a build folder what running needs: the programs, the runtime,
# the Python package and the test programs, without symbols (under 60 MB). Put
# beside a checkout on a GPU machine, scripts/test-gpu.sh --build takes it.
# usage: scripts/pack-build.sh BUILD DESTINATION
set -euo pipefail
[ $# = 2 ] || {
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
  exit 2
}
build=$(realpath "$1")
[ -d "$build/bin" ] || {
  echo "pack-build: error: no $build/bin: build first (scripts/test.sh)" >&2
  exit 1
}
mkdir -p "$2"
destination=$(realpath "$2")
rm -rf "${destination:?}"/{bin,device,lib,python,test}

# Places inside the build are kept, since programs find libraries by them.
cd "$build"
{
  find bin test/bin -maxdepth 1 -type f -executable ! -name dlc-tblgen \
    2>/dev/null || true
  find lib -name 'libdlc*.so*'
  [ ! -d python ] || find python -name '*.so' -o -name '*.py'
  find device -name '*.cuh' -o -name '*.h' # for tests that compile kernels
} | while read -r file; do
  [ -e "$file" ] || continue
  mkdir -p "$destination/$(dirname "$file")"
  # Headers are links into the checkout; those of libraries stay links.
  case $file in
  device/*) cp -L "$file" "$destination/$file" ;;
  *) cp -P "$file" "$destination/$file" ;;
  esac
  if [ ! -L "$file" ] && head -c 4 "$file" | grep -q ELF; then
    strip "$destination/$file"
  fi
done
du -sh "$destination" | sed 's/^/pack-build: /'
