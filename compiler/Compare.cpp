// SPDX-License-Identifier: Apache-2.0
// Compares a result with the reference: the norm and every element.
#include "compiler/Compare.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace dlc {

Comparison compare(llvm::ArrayRef<double> out, llvm::ArrayRef<double> ref,
                   double tolerance) {
  Comparison c;
  if (out.size() != ref.size()) {
    c.misplaced = std::max(out.size(), ref.size());
    return c;
  }
  double refSquares = 0, errorSquares = 0;
  int64_t finite = 0;
  for (size_t i = 0; i < ref.size(); i++) {
    if (!std::isfinite(ref[i]) || !std::isfinite(out[i])) {
      bool match = std::isnan(ref[i]) ? std::isnan(out[i]) : out[i] == ref[i];
      if (!match && ++c.misplaced == 1)
        c.worstIndex = int64_t(i);
      continue;
    }
    refSquares += ref[i] * ref[i];
    errorSquares += (out[i] - ref[i]) * (out[i] - ref[i]);
    finite++;
  }
  double rms = finite ? std::sqrt(refSquares / double(finite)) : 0;
  c.norm = refSquares > 0     ? std::sqrt(errorSquares / refSquares)
           : errorSquares > 0 ? INFINITY
                              : 0;
  for (size_t i = 0; i < ref.size() && !c.misplaced; i++) {
    if (!std::isfinite(ref[i]))
      continue;
    double error = std::fabs(out[i] - ref[i]);
    double bound = 8 * tolerance * (std::fabs(ref[i]) + rms);
    double share = error == 0 ? 0 : bound > 0 ? error / bound : INFINITY;
    if (share > c.worst) {
      c.worst = share;
      c.worstIndex = int64_t(i);
    }
  }
  c.same = !c.misplaced && c.norm <= tolerance && c.worst <= 1;
  return c;
}

std::string Comparison::str() const {
  if (misplaced)
    return llvm::formatv("{0} elements are NaN or infinite in one of the two "
                         "only, the first at {1}",
                         misplaced, worstIndex);
  if (worstIndex < 0)
    return "equal";
  return llvm::formatv(
      "relative error {0:e2}, worst element {1} at {2:f2} of its bound", norm,
      worstIndex, worst);
}

double modelTolerance(llvm::StringRef precision) {
  return llvm::StringSwitch<double>(precision)
      .Case("tf32", 5e-3)
      .Case("fp16", 1e-2)
      .Case("bf16", 5e-2)
      .Default(1e-4);
}

} // namespace dlc
