// SPDX-License-Identifier: Apache-2.0
// Products of 16-bit values with f32 weights, on tensor cores: each weight is
// the sum of two 16-bit numbers, and the sum over k runs over both.
#include "codegen/SplitWeights.h"
#include "codegen/tiling/ContractionTiling.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>

using namespace dlc;
using namespace dlc::codegen;

// What dlc itself widened; a cast of the model is none of it.
const Value *codegen::widenedFrom(const Value *value) {
  const Op *op = value->definingOp();
  if (!op || op->kind() != OpKind::Convert ||
      op->result()->type().element != DataType::F32)
    return nullptr;
  DataType from = op->operand(0)->type().element;
  return from == DataType::F16 || from == DataType::BF16 ? op->operand(0)
                                                         : nullptr;
}

// The constant that the unit is given as `value`.
const Constant *codegen::constantGiven(const Value *value, const Unit &unit) {
  for (auto [i, outside] : llvm::enumerate(unit.inputs())) {
    if (unit.body().input(unsigned(i)) != value)
      continue;
    const Op *op = outside ? outside->definingOp() : nullptr;
    return op && op->kind() == OpKind::Constant
               ? &llvm::cast<ConstantOp>(op).value()
               : nullptr;
  }
  return nullptr;
}

static float rounded(DataType type, float x) {
  uint8_t bytes[sizeof(float)];
  storeFloat(type, bytes, 0, x);
  return float(loadFloat(type, bytes, 0));
}

// The part that is stored first: nearer to zero than `w`, so that the rest has
// the sign of `w` and is not zero. Otherwise an infinity times both parts would
// be NaN, where it is infinite times `w`.
static float firstPart(DataType type, float w) {
  const float near = rounded(type, w);
  if (std::fabs(near) < std::fabs(w) || w == 0)
    return near;
  uint8_t bytes[sizeof(uint16_t)];
  storeFloat(type, bytes, 0, near);
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  --bits;
  std::memcpy(bytes, &bits, sizeof bits);
  return float(loadFloat(type, bytes, 0));
}

bool codegen::holdsParts(const Constant &weights, DataType narrow) {
  double largest = 0;
  for (int64_t i = 0, n = weights.isSplat() ? 1 : weights.elements(); i < n;
       ++i)
    largest = std::max(largest, std::fabs(weights.floatAt(i)));
  // The smallest f16 is 2^-24. NaN fails too.
  return narrow == DataType::F16 ? largest >= 0x1p-8 && largest <= 65504
                                 : largest <= 0x1p126;
}

std::optional<SplitWeights> codegen::splitWeights(const Op &hero,
                                                  const ContractionView &view,
                                                  const Unit &unit,
                                                  const Target &target) {
  const Value *a = widenedFrom(view.a);
  if (!a || view.b->type().element != DataType::F32 ||
      !view.batch.isConstant(1) || !view.n.isConstant() || !view.k.isConstant())
    return std::nullopt;
  const Constant *weights = constantGiven(view.b, unit);
  SplitWeights split;
  split.a = a;
  split.element = a->type().element;
  split.depth = view.k;
  if (!weights || !holdsParts(*weights, split.element) ||
      !hasTensorCores(split.element == DataType::F16
                          ? ContractionProblem::Math::F16
                          : ContractionProblem::Math::BF16,
                      target))
    return std::nullopt;

  const TensorType &type = view.b->type();
  auto offset = [&](int64_t n, int64_t k) {
    return type.layout
        .offset(type.shape, view.placeB(0, n, k, 0, false).at.index)
        .tryConstant();
  };
  const int64_t n = view.n.constant(), k = view.k.constant();
  std::vector<int64_t> row, column;
  for (int64_t i = 0; i < n; ++i)
    if (std::optional<int64_t> at = offset(i, 0))
      column.push_back(*at);
  for (int64_t i = 0; i < k; ++i)
    if (std::optional<int64_t> at = offset(0, i))
      row.push_back(*at - column.front());
  if (int64_t(column.size()) != n || int64_t(row.size()) != k)
    return std::nullopt;

  const int64_t bytes = bitWidth(split.element) / 8;
  std::vector<uint8_t> parts(size_t(2 * n * k * bytes));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j) {
      const int64_t at = column[size_t(i)] + row[size_t(j)];
      const auto w = float(weights->floatAt(weights->isSplat() ? 0 : at));
      const float high = firstPart(split.element, w);
      storeFloat(split.element, parts.data(), i * 2 * k + j, high);
      storeFloat(split.element, parts.data(), i * 2 * k + k + j, w - high);
    }
  split.parts = Constant::fromBytes(
      TensorType(split.element, {Dim(n), Dim(2 * k)}), std::move(parts));
  return split;
}
