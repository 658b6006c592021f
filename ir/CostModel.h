// SPDX-License-Identifier: Apache-2.0
// What passes may ask about kernels, without knowing any.
#pragma once

#include "ir/FusionBody.h"
#include "ir/Target.h"

namespace dlc {

struct Estimate {
  double microseconds = 0;
  int64_t flops = 0, bytes = 0;
};

/// codegen implements it, compiler/ injects it; a pass forms only what it
/// accepts.
class CostModel {
public:
  virtual ~CostModel() = default;
  /// Price of running `fusion` (body types carry the layouts) as one kernel on
  /// `target`, or an error with the sentence why no kernel would do.
  virtual llvm::Expected<Estimate> price(const FusionOp &fusion,
                                         const Target &target) const = 0;
  /// Layout in which a contraction or window wants `operand` of `op`, and its
  /// result (operand = -1), on `target`.
  virtual Layout preferredLayout(const Op &op, int operand,
                                 const Target &target) const = 0;
  /// Has `target` a kernel for this convolution of few channels that reads them
  /// wherever they lie? Then nobody pads or moves them for it.
  virtual bool readsImages(const Op &conv, const Target &target) const {
    return false;
  }
};

} // namespace dlc
