// SPDX-License-Identifier: Apache-2.0
// NVIDIA's run-time compiler, opened when it is needed.
#pragma once

#include "codegen/Emission.h"
#include "ir/Target.h"
#include "llvm/Support/Error.h"

namespace dlc::codegen {

class Nvrtc {
public:
  /// \param searchPath the folder of libnvrtc.so, or empty for the loader's
  /// path and the usual places. The error says where it looked.
  static llvm::Expected<std::unique_ptr<Nvrtc>>
  open(llvm::StringRef searchPath);

  int major() const { return majorVersion; }
  int minor() const { return minorVersion; }
  std::string version() const; ///< "13.0"
  /// The oldest driver (12040 for CUDA 12.4) that takes what is compiled.
  uint32_t leastDriver(const Target &target) const;
  /// All options but the include path, which are part of a cache key.
  std::vector<std::string> options(const Target &target) const;

  /// Cubin, or PTX for the portable target. Safe to call from many threads.
  /// The error holds the compiler's whole log.
  llvm::Expected<std::string> compile(const KernelSource &kernel,
                                      const Target &target) const;

private:
  struct Functions;
  Nvrtc() = default;
  std::shared_ptr<Functions> f;
  int majorVersion = 0, minorVersion = 0;
};

} // namespace dlc::codegen
