# SPDX-License-Identifier: Apache-2.0
"""The text tests: which files are tests, the tools they run, and what this
machine has. Run by scripts/test.sh, or by hand:
.venv/bin/lit -v build/test [--filter NAME]

Features (for REQUIRES: lines)
  host-target   a C++ compiler that host kernels are compiled with
  nvrtc         NVRTC and the CUDA headers are here
  gpu           an NVIDIA GPU with its driver is here
  models        the networks of scripts/ are in .models
  compiler      the compiler's tools are built (off in a runtime-only build)
Substitutions
  dlc, dlc-opt, dlc-run, ...   the built tools, as bare words
  %python %cxx %FileCheck %not %protoc %source %models %cuda
"""

import ctypes
import glob
import os
import platform
import shutil

import lit.formats

config.name = "dlc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".dlc", ".td", ".test", ".textproto"]
config.excludes = ["Inputs", "Expected", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.dlc_source_root, "test")
config.test_exec_root = os.path.join(config.dlc_build_root, "test")

source, build = config.dlc_source_root, config.dlc_build_root


# Tools are found on PATH, so that a RUN line reads as a user would type it.
tools = os.path.join(build, "bin")
llvm = config.dlc_llvm_tools or "/usr/lib/llvm-19/bin"
config.environment["PATH"] = os.pathsep.join(
    [tools, llvm, os.environ.get("PATH", "")])
if os.access(os.path.join(tools, "dlc-opt"), os.X_OK):
    config.available_features.add("compiler")

cuda = os.path.join(source, ".venv", "cuda")
if not os.path.exists(cuda):
    cuda = "/usr/local/cuda"
if os.path.exists(os.path.join(cuda, "include", "cuda_fp16.h")):
    config.available_features.add("nvrtc")
    config.environment["CUDA_PATH"] = cuda
    for folder in ("lib64", "lib"):
        if glob.glob(os.path.join(cuda, folder, "libnvrtc.so*")):
            config.environment["DLC_NVRTC"] = os.path.join(cuda, folder)
            break

if os.path.exists(os.path.join(source, ".models", "resnet50.onnx")):
    config.available_features.add("models")


def has_gpu():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return (driver.cuInit(0) == 0 and
            driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and
            count.value > 0)


if has_gpu():
    config.available_features.add("gpu")
if shutil.which(config.dlc_cxx) and platform.machine() in ("x86_64",
                                                           "aarch64"):
    config.available_features.add("host-target")

# Tests share no cache with their user, and each run starts with what the last
# one left, so that kernels which did not change are not compiled again.
config.environment["XDG_CACHE_HOME"] = os.path.join(build, "test-cache")
for name in ("HOME", "CUDA_VISIBLE_DEVICES", "CUDA_CACHE_PATH", "CCACHE_DIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%python", config.dlc_python),
    ("%cxx", config.dlc_cxx),
    ("%FileCheck", os.path.join(llvm, "FileCheck")),
    ("%not", os.path.join(llvm, "not")),
    ("%protoc", shutil.which("protoc") or "protoc"),
    ("%source", source),
    ("%build", build),
    ("%models", os.path.join(source, ".models")),
    ("%cuda", cuda),
]
