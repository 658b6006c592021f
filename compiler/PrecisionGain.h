// SPDX-License-Identifier: Apache-2.0
// What a model compiled exactly in fp32 would gain from tf32 or fp16.
#pragma once

#include "ir/Graph.h"
#include "ir/Target.h"
#include <optional>

namespace dlc {

/// An estimate, by the prices that the passes go by.
struct PrecisionGain {
  std::string target;
  double tf32 = 1, fp16 = 1; ///< times as fast as fp32
};

/// Prices the kernels of `module` (after the passes) as they are, with products
/// in tf32, and with f16 for f32. Nothing where no kernel multiplies in f32.
/// What the precision policy would keep wide is not known here, so that fp16 is
/// the most that can be had. Takes milliseconds: weights are not converted.
std::optional<PrecisionGain> estimatePrecisionGain(const Module &module,
                                                   const Target &target);

} // namespace dlc
