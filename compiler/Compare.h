// SPDX-License-Identifier: Apache-2.0
// Compares a result with the reference: the norm and every element.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace dlc {

/// Bounds of a comparison (docs/ir.md, "Comparison"): ||out - ref|| / ||ref||
/// <= t and, for every element, |out - ref| <= 8 t (|ref| + rms(ref)). NaN and
/// infinities must match in place.
struct Comparison {
  bool same = false;
  double norm = 0;  ///< ||out - ref|| / ||ref||, over finite elements
  double worst = 0; ///< largest |out - ref| / (8 t (|ref| + rms))
  int64_t worstIndex = -1;
  int64_t misplaced = 0; ///< NaN or infinity in one but not in the other
  std::string str() const;
};
Comparison compare(llvm::ArrayRef<double> out, llvm::ArrayRef<double> ref,
                   double tolerance);

/// The table's bounds for a whole model: "fp32" 1e-4, "tf32" 5e-3, "fp16" 1e-2,
/// "bf16" 5e-2.
double modelTolerance(llvm::StringRef precision);

} // namespace dlc
