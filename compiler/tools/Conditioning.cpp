// SPDX-License-Identifier: Apache-2.0
// How far a model itself is moved by what a narrow type cannot tell apart.
#include "compiler/tools/Conditioning.h"
#include "compiler/Compare.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <random>

namespace dlc {

using reference::Tensor;

std::optional<std::vector<Tensor>> movedInputs(llvm::ArrayRef<Tensor> inputs,
                                               llvm::StringRef precision,
                                               uint64_t seed) {
  const int mantissa = llvm::StringSwitch<int>(precision)
                           .Cases("fp16", "tf32", 10)
                           .Case("bf16", 7)
                           .Default(0);
  if (!mantissa)
    return std::nullopt;
  const int smallest = precision == "fp16" ? -24 : -133;
  std::mt19937_64 random(seed);
  std::vector<Tensor> moved = inputs.vec();
  for (Tensor &t : moved) {
    if (!isFloat(t.element()))
      continue;
    for (int64_t i = 0; i < t.elements(); ++i) {
      const double x = t.floatAt(i);
      if (!std::isfinite(x))
        continue;
      const int exponent = x == 0 ? smallest : std::ilogb(x) - mantissa;
      const double step = std::ldexp(1, std::max(exponent, smallest));
      t.setFloat(i, random() % 2 ? x + step : x - step);
    }
  }
  return moved;
}

llvm::Expected<std::string> whyIllConditioned(Graph &graph,
                                              std::vector<Tensor> moved,
                                              llvm::ArrayRef<Tensor> expected,
                                              size_t outputs,
                                              llvm::StringRef precision) {
  llvm::Expected<std::vector<Tensor>> made = reference::evaluate(
      graph, std::move(moved), reference::Precision::Double);
  if (!made)
    return made.takeError();
  const double bound = modelTolerance(precision);
  double worst = 0;
  for (size_t i = 0; i < outputs; ++i) {
    const Tensor &a = (*made)[i], &b = expected[i];
    if (!isFloat(b.element()) || a.shape() != b.shape())
      continue;
    std::vector<double> x(size_t(b.elements())), y(x.size());
    for (int64_t k = 0; k < b.elements(); ++k) {
      x[size_t(k)] = a.floatAt(k);
      y[size_t(k)] = b.floatAt(k);
    }
    const Comparison c = compare(x, y, bound);
    worst = std::max({worst, c.worst, c.norm / bound});
  }
  if (worst <= 1)
    return "";
  return llvm::formatv("the model is ill-conditioned for {0}: the reference "
                       "itself moves by {1:f2} of the bound when the inputs "
                       "move by one step of {0}; compile it in a finer "
                       "precision",
                       precision, worst)
      .str();
}

} // namespace dlc
