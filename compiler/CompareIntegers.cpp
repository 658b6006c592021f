// SPDX-License-Identifier: Apache-2.0
// Compares integers with the reference: equal, or a choice as good.
#include "compiler/CompareIntegers.h"

#include "ir/Ops.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace dlc;
using reference::Tensor;

Choice dlc::choiceOf(const Value *output) {
  const Op *op = output->definingOp();
  unsigned result = output->index();
  while (op && op->kind() == OpKind::Cast &&
         isInteger(op->operand(0)->type().element)) {
    result = op->operand(0)->index();
    op = op->operand(0)->definingOp();
  }
  auto choice = [](Value *scores, int64_t axis) {
    return Choice{scores, axis < 0 ? axis + scores->type().rank() : axis};
  };
  if (auto arg = llvm::dyn_cast_if_present<ArgReduceOp>(op))
    return choice(arg.input(), arg.axis());
  if (auto topk = llvm::dyn_cast_if_present<TopKOp>(op); topk && result == 1)
    return choice(topk.input(), topk.axis());
  return {};
}

namespace {
/// The values that indices choose along one axis.
class Scores {
public:
  Scores(const Tensor &scores, int64_t axis, int64_t indices, double tolerance)
      : scores(scores), tolerance(tolerance) {
    int64_t outer = 1;
    for (int64_t d = 0; d < scores.rank(); d++)
      (d < axis ? outer : d == axis ? extent : inner) *= scores.shape()[d];
    perRow = outer * inner > 0 ? indices / (outer * inner) : 0;
    double squares = 0;
    int64_t finite = 0;
    for (int64_t i = 0; i < scores.elements(); i++)
      if (double v = at(i); std::isfinite(v)) {
        squares += v * v;
        finite++;
      }
    rms = finite ? std::sqrt(squares / double(finite)) : 0;
  }
  /// Is choosing `a` for index `i` as good as choosing `b`?
  bool isAsGood(int64_t i, int64_t a, int64_t b) const {
    if (a < 0 || a >= extent || b < 0 || b >= extent)
      return false;
    const int64_t row = i / inner / perRow * extent, column = i % inner;
    const double x = at((row + a) * inner + column),
                 y = at((row + b) * inner + column);
    return x == y || (std::isnan(x) && std::isnan(y)) ||
           std::fabs(x - y) <= 8 * tolerance * (std::fabs(y) + rms);
  }

private:
  double at(int64_t i) const {
    return isFloat(scores.element()) ? scores.floatAt(i)
                                     : double(scores.intAt(i));
  }
  const Tensor &scores;
  double tolerance, rms = 0;
  int64_t extent = 1, inner = 1, perRow = 0;
};
} // namespace

IntegerComparison dlc::compareIntegers(const Tensor &out, const Tensor &ref,
                                       const Tensor *scores, int64_t axis,
                                       double tolerance) {
  IntegerComparison c;
  c.total = ref.elements();
  c.same = true;
  std::optional<Scores> choice;
  if (scores)
    choice.emplace(*scores, axis, c.total, tolerance);
  for (int64_t i = 0; i < c.total; i++) {
    const int64_t a = out.intAt(i), b = ref.intAt(i);
    if (a == b)
      continue;
    const bool good = choice && choice->isAsGood(i, a, b);
    c.chosen |= choice.has_value();
    c.differ++;
    if (c.first < 0 || (c.same && !good)) {
      c.first = i;
      c.found = a;
      c.expected = b;
    }
    c.same &= good;
  }
  return c;
}

std::string IntegerComparison::str() const {
  if (!differ)
    return "equal";
  std::string text = llvm::formatv("{0} of {1} integers differ, {2} for {3} at "
                                   "{4}",
                                   differ, total, found, expected, first);
  if (chosen)
    text += same ? "; what they choose is within the bound"
                 : "; what they choose differs by more than the bound";
  return text;
}
