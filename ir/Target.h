// SPDX-License-Identifier: Apache-2.0
// A GPU (or the host) as plain numbers. It never asks a device.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dlc {

struct Target {
  enum class Kind : uint8_t {
    Cubin,    ///< machine code of one GPU architecture
    Portable, ///< PTX for compute_75, which newer drivers translate
    Host      ///< the system's C++ compiler and the emulator
  };
  Kind kind = Kind::Cubin;
  std::string name; ///< "sm_90a", "portable", "host"
  std::string arch; ///< for the compiler: "sm_90a", "compute_75"
  int sm = 0;       ///< 75 ... 120; what kernels may use
  int multiprocessors = 1;
  int64_t sharedPerBlock = 48 << 10; ///< bytes, opt-in maximum
  int64_t sharedPerSm = 64 << 10;    ///< bytes
  int registersPerSm = 65536;
  int64_t l2Bytes = 4 << 20;
  double bandwidth = 3e11; ///< bytes/s from memory
  double fp32Flops = 8e12; ///< FMA counted twice
  double fp16Flops = 6e13; ///< tensor cores, dense
  double tf32Flops = 0;    ///< 0: none
  double int8Ops = 1.3e14;

  bool isHost() const { return kind == Kind::Host; }
  /// Programmatic dependent launch, TMA, clusters.
  bool hasHopper() const { return kind == Kind::Cubin && sm >= 90; }
  bool hasCpAsync() const { return sm >= 80; }

  /// "sm_75" ... "sm_120", "portable", "host"; an error lists them.
  static llvm::Expected<Target> parse(llvm::StringRef name);
  static std::vector<std::string> names();
};

} // namespace dlc
