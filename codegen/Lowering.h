// SPDX-License-Identifier: Apache-2.0
// From a module of fusions to a plan with its kernels and weights.
#pragma once

#include "codegen/Emission.h"
#include "codegen/StateBinding.h"
#include "ir/Target.h"
#include "runtime/plan/Plan.h"
#include "llvm/Support/Error.h"

namespace dlc::codegen {

struct CodegenOptions {
  /// One line per op in the report: the kernels and why these.
  bool report = true;
  std::vector<StateBinding> states;
};

/// A weight of the plan and its bytes in memory order.
struct LoweredWeight {
  Constant constant;
  std::vector<uint8_t> expanded; ///< of a splat
  llvm::ArrayRef<uint8_t> bytes() const {
    return constant.isSplat() ? llvm::ArrayRef<uint8_t>(expanded)
                              : constant.rawBytes();
  }
};

struct LoweredModule {
  std::unique_ptr<plan::PlanT> plan;
  /// Of plan->kernels, in their order: kernel i has binary i and source i until
  /// whoever links the binaries says otherwise.
  std::vector<KernelSource> kernels;
  std::vector<LoweredWeight> weights; ///< of plan->weights
  std::vector<std::string> report;
};

/// Chooses emitters, prints kernels and plans steps and buffers. Needs no GPU.
/// An error names the ONNX node for which there is no kernel.
llvm::Expected<LoweredModule> lower(const Module &module, const Target &target,
                                    const CodegenOptions &options = {});

} // namespace dlc::codegen
