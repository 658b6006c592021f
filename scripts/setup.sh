#!/usr/bin/env bash
# Installs what building, testing and the demo need on Debian 12 and Ubuntu
# 24.04: packages of the distribution (as root or through sudo), a Python
# virtual environment in .venv/, and NVRTC where no CUDA toolkit is installed.
# A second run finds everything in place and ends within a second.
#   --python-only  nothing of the distribution: only .venv/, to run what is built
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

say() { printf 'setup: %s\n' "$*"; }
die() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

python_only=''
case ${1:-} in
'') ;;
--python-only) python_only=1 ;;
-h | --help)
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' scripts/setup.sh
  exit 0
  ;;
*) die "unknown option '$1'; --help lists the options" ;;
esac

packages=(
  g++ cmake ninja-build ccache mold git ca-certificates
  llvm-19-dev llvm-19-tools libzstd-dev zlib1g-dev
  libprotobuf-dev protobuf-compiler
  libflatbuffers-dev flatbuffers-compiler
  libgtest-dev
  python3 python3-venv python3-dev
)

log=$root/.cache/setup.log
mkdir -p .cache

# Runs a command with its output in the log; prints the log's end if it fails.
quietly() {
  if ! "$@" >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    return 1
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    die "this is not Debian or Ubuntu (no dpkg); install these yourself: ${packages[*]}"
  local missing=() name
  for name in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null |
      grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    die "these packages are missing, and there is no sudo: run as root, or have somebody install ${missing[*]}"
  say "installing ${#missing[@]} packages of the distribution: ${missing[*]}"
  quietly as_root apt-get update -q ||
    die "apt-get update failed (above): check the network and the package sources, then run this again"
  quietly as_root apt-get install -q -y --no-install-recommends \
    "${missing[@]}" ||
    die "apt-get could not install ${missing[*]} (above); on Ubuntu, 'universe' has to be enabled (add-apt-repository universe)"
}

check_compiler() {
  echo 'int main(){return requires(int i){i+1;}?0:1;}' |
    g++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ||
    die "$(g++ --version | head -n 1) does not know C++20: install g++ 12 or newer"
}

# The folder of an installed CUDA toolkit that has NVRTC and its headers.
find_toolkit() {
  local dir
  for dir in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda /opt/cuda; do
    if [ -n "$dir" ] && [ -e "$dir/include/cuda_fp16.h" ] &&
      compgen -G "$dir/lib64/libnvrtc.so*" >/dev/null; then
      echo "$dir"
      return
    fi
  done
}

install_python() {
  local toolkit files stamp
  toolkit=$(find_toolkit)
  files=(scripts/requirements.txt)
  [ -n "$toolkit" ] || files+=(scripts/requirements-nvrtc.txt)
  # The environment keeps absolute paths, so its place is part of the stamp.
  stamp=$( (echo "$root $toolkit"; /usr/bin/python3 --version
            cat "${files[@]}") | sha256sum)
  if [ "$(cat .venv/dlc-stamp 2>/dev/null)" != "$stamp" ]; then
    say "making the Python environment .venv/ (onnx, onnxruntime, lit and others)"
    rm -f .venv/dlc-stamp
    quietly /usr/bin/python3 -m venv --clear .venv ||
      die "python3 -m venv failed (above): install python3-venv"
    local arguments=() file
    for file in "${files[@]}"; do arguments+=(-r "$file"); done
    quietly .venv/bin/pip install --disable-pip-version-check --no-input \
      --retries 5 --only-binary :all: "${arguments[@]}" ||
      die "pip could not install ${files[*]} (above): check the network and pip's index, then run this again"
    # One path for both cases: a toolkit, or the wheels, which are laid out
    # like one.
    if [ -n "$toolkit" ]; then
      say "NVRTC and CUDA headers: the toolkit in $toolkit"
      ln -sfn "$toolkit" .venv/cuda
    else
      say "NVRTC and CUDA headers: no toolkit here, so NVIDIA's wheels"
      ln -sfn "$(.venv/bin/python -c 'import sysconfig
print(sysconfig.get_path("purelib"))')/nvidia/cu13" .venv/cuda
    fi
    printf '%s\n' "$stamp" >.venv/dlc-stamp
  fi
  [ -e .venv/cuda/include/cuda_fp16.h ] ||
    die "no CUDA headers under .venv/cuda/include: remove .venv and run this again"
}

if [ -n "$python_only" ]; then
  install_python
  say "ready: $(.venv/bin/python --version), CUDA headers in $(readlink .venv/cuda)"
  exit
fi
install_packages
check_compiler
install_python
say "ready: g++ $(g++ -dumpfullversion), LLVM $(/usr/lib/llvm-19/bin/llvm-config --version), $(.venv/bin/python --version), CUDA headers in $(readlink .venv/cuda)"
