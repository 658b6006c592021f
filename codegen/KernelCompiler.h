// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of a plan for a target, in parallel and with a cache.
#pragma once

#include "codegen/Emission.h"
#include "ir/Target.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace dlc::codegen {

struct KernelCompilerOptions {
  unsigned jobs = 0;        ///< threads; 0: one per core
  std::string cacheDir;     ///< empty: no cache
  std::string nvrtcPath;    ///< folder of libnvrtc; empty: the usual places
  std::string hostCompiler; ///< empty: c++ of the PATH
  /// Where the source of a kernel that does not compile is left.
  std::string failureDir = "/tmp";
  /// Called after each kernel, from any thread, one call at a time; false
  /// cancels.
  std::function<bool(size_t done, size_t all)> progress;
};

struct CompiledKernels {
  /// Cubins or PTX, one a kernel; for the host one shared object.
  std::vector<std::string> binaries;
  std::vector<uint32_t> binaryOf; ///< of each kernel, in `binaries`
  std::string compiler;           ///< "NVRTC 13.0"
  uint32_t leastDriver = 0;       ///< CUDA version, 12040 for 12.4
  size_t cacheHits = 0;
};

llvm::Expected<CompiledKernels>
compileKernels(llvm::ArrayRef<KernelSource> kernels, const Target &target,
               const KernelCompilerOptions &options);

} // namespace dlc::codegen
