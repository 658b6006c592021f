// SPDX-License-Identifier: Apache-2.0
// Dimension expressions through arithmetic, also where a model computes sizes
// in floating point: exact values only, as fractions.
#include "compiler/onnx/KnownValues.h"
#include "ir/ShapeValue.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>

using namespace dlc;

static constexpr unsigned kDeepest = 200;
static constexpr int64_t kLargestDenominator = int64_t(1) << 20;
// A product of a size and a fraction with more bits would round in f32, and its
// floor might then differ from ours.
static constexpr int64_t kFinestFloat = 1 << 10;

std::optional<KnownValues::Ratios> KnownValues::ratios(Value *value,
                                                       unsigned depth) {
  auto known = ratioCache.find(value);
  if (known != ratioCache.end())
    return known->second;
  std::optional<int64_t> count = value->type().elementCount().tryConstant();
  if (!count || *count > 4096 || depth > kDeepest || !value->definingOp())
    return std::nullopt;
  std::optional<Ratios> result = computeRatios(value->definingOp(), depth);
  if (result && int64_t(result->size()) != *count)
    result = std::nullopt;
  ratioCache[value] = result;
  return result;
}

/// A double as a fraction, if it has a small power of two below.
template <class Ratio> static std::optional<Ratio> exact(double value) {
  int64_t denominator = 1;
  while (value != std::floor(value)) {
    value *= 2;
    denominator *= 2;
    if (denominator > kFinestFloat)
      return std::nullopt;
  }
  if (!(std::fabs(value) < 9e15))
    return std::nullopt;
  return Ratio{Dim(int64_t(value)), denominator};
}

std::optional<KnownValues::Ratio>
KnownValues::combine(OpKind kind, const Ratio &a, const Ratio &b) const {
  int64_t common = std::lcm(a.denominator, b.denominator);
  if (common > kLargestDenominator)
    return std::nullopt;
  Dim x = a.numerator * Dim(common / a.denominator);
  Dim y = b.numerator * Dim(common / b.denominator);
  switch (kind) {
  case OpKind::Add:
    return Ratio{x + y, common};
  case OpKind::Sub:
    return Ratio{x - y, common};
  case OpKind::Max:
    return Ratio{max(x, y), common};
  case OpKind::Min:
    return Ratio{min(x, y), common};
  case OpKind::Mul: {
    int64_t denominator;
    if (llvm::MulOverflow(a.denominator, b.denominator, denominator) ||
        denominator > kLargestDenominator)
      return std::nullopt;
    Dim product = a.numerator * b.numerator;
    if (denominator == 1 || !product.isConstant())
      return Ratio{product, denominator};
    int64_t shared = std::gcd(product.constant(), denominator);
    return Ratio{Dim(product.constant() / shared), denominator / shared};
  }
  default:
    return std::nullopt;
  }
}

std::optional<KnownValues::Ratio> KnownValues::apply(const Op *op,
                                                     const Ratio &a) const {
  switch (op->kind()) {
  case OpKind::Neg:
    return Ratio{Dim(0) - a.numerator, a.denominator};
  case OpKind::Floor:
    return Ratio{floorDiv(a.numerator, a.denominator), 1};
  case OpKind::Ceil:
    return Ratio{ceilDiv(a.numerator, a.denominator), 1};
  case OpKind::Relu:
    return Ratio{atLeast(a.numerator, 0), a.denominator};
  case OpKind::Cast: {
    DataType to = llvm::cast<CastOp>(op).to();
    if (isFloat(to) && bitWidth(to) >= 32)
      return a;
    if (to != DataType::I64 && to != DataType::I32)
      return std::nullopt;
    if (a.denominator == 1)
      return a;
    // A cast truncates: the same as rounding down where nothing is negative.
    if (!isAtLeast(a.numerator, 0))
      return std::nullopt;
    return Ratio{floorDiv(a.numerator, a.denominator), 1};
  }
  default:
    return std::nullopt;
  }
}

std::optional<KnownValues::Ratios> KnownValues::reduce(Op *op, unsigned depth) {
  ReduceOp reduction = llvm::cast<ReduceOp>(op);
  std::optional<Ratios> from = ratios(op->operand(0), depth + 1);
  if (!from || from->empty() ||
      !op->result()->type().elementCount().isConstant(1))
    return std::nullopt;
  OpKind kind;
  switch (reduction.kind()) {
  case ReduceKind::Sum:
    kind = OpKind::Add;
    break;
  case ReduceKind::Prod:
    kind = OpKind::Mul;
    break;
  case ReduceKind::Max:
    kind = OpKind::Max;
    break;
  case ReduceKind::Min:
    kind = OpKind::Min;
    break;
  default:
    return std::nullopt;
  }
  std::optional<Ratio> total = from->front();
  for (size_t i = 1; total && i < from->size(); ++i)
    total = combine(kind, *total, (*from)[i]);
  if (!total)
    return std::nullopt;
  return Ratios{*total};
}

std::optional<KnownValues::Ratios> KnownValues::computeRatios(Op *op,
                                                              unsigned depth) {
  Value *result = op->result();
  if (std::optional<std::vector<Dim>> known = shapeValue(result)) {
    Ratios ratios;
    for (const Dim &d : *known)
      ratios.push_back({d, 1});
    return ratios;
  }
  if (op->numRegions() || op->numResults() != 1)
    return std::nullopt;
  if (auto source = llvm::dyn_cast<ConstantOp>(op)) {
    if (!isFloat(result->type().element))
      return std::nullopt;
    Ratios ratios;
    for (double value : source.value().toFloats()) {
      std::optional<Ratio> r = exact<Ratio>(value);
      if (!r)
        return std::nullopt;
      ratios.push_back(*r);
    }
    return ratios;
  }
  auto operand = [&](unsigned i) { return ratios(op->operand(i), depth + 1); };
  auto indices = [&](unsigned i) { return ints(op->operand(i)); };
  switch (op->kind()) {
  case OpKind::Reshape:
    return operand(0);
  case OpKind::Concat: {
    Ratios all;
    if (result->type().rank() != 1)
      return std::nullopt;
    for (unsigned i = 0; i < op->numOperands(); ++i) {
      std::optional<Ratios> part = operand(i);
      if (!part)
        return std::nullopt;
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }
  case OpKind::Slice: {
    SliceOp slice = llvm::cast<SliceOp>(op);
    std::optional<Ratios> from = operand(0);
    if (!from || result->type().rank() != 1 ||
        !slice.starts()[0].isConstant() || !slice.sizes()[0].isConstant())
      return std::nullopt;
    Ratios part;
    int64_t start = slice.starts()[0].constant();
    for (int64_t i = 0; i < slice.sizes()[0].constant(); ++i) {
      int64_t at = start + i * slice.steps()[0];
      if (at < 0 || at >= int64_t(from->size()))
        return std::nullopt;
      part.push_back((*from)[at]);
    }
    return part;
  }
  case OpKind::Gather: {
    std::optional<Ratios> from = operand(0);
    std::optional<std::vector<int64_t>> at = indices(1);
    if (!from || !at || op->operand(0)->type().rank() != 1)
      return std::nullopt;
    Ratios picked;
    for (int64_t i : *at) {
      i = i < 0 ? i + int64_t(from->size()) : i;
      if (i < 0 || i >= int64_t(from->size()))
        return std::nullopt;
      picked.push_back((*from)[i]);
    }
    return picked;
  }
  case OpKind::Broadcast: {
    std::optional<Ratios> from = operand(0);
    std::optional<int64_t> count = result->type().elementCount().tryConstant();
    if (!from || !count)
      return std::nullopt;
    if (from->size() == 1)
      return Ratios(size_t(*count), from->front());
    return from; // the size check of the caller refuses any other repetition
  }
  case OpKind::Reduce:
    return reduce(op, depth);
  case OpKind::Select: {
    std::optional<std::vector<int64_t>> condition = indices(0);
    std::optional<Ratios> yes = operand(1), no = operand(2);
    size_t count = size_t(result->type().elementCount().constant());
    if (!condition || !yes || !no)
      return std::nullopt;
    auto at = [&](const auto &list, size_t i) {
      return list[list.size() == 1 ? 0 : i];
    };
    for (size_t size : {condition->size(), yes->size(), no->size()})
      if (size != 1 && size != count)
        return std::nullopt;
    Ratios picked;
    for (size_t i = 0; i < count; ++i)
      picked.push_back(at(*condition, i) ? at(*yes, i) : at(*no, i));
    return picked;
  }
  default:
    break;
  }
  if (!op->hasTrait(OpTrait::Pointwise))
    return std::nullopt;
  std::optional<Ratios> lhs = operand(0);
  if (!lhs)
    return std::nullopt;
  Ratios out;
  if (op->numOperands() == 1) {
    for (const Ratio &r : *lhs) {
      std::optional<Ratio> value = apply(op, r);
      if (!value)
        return std::nullopt;
      out.push_back(*value);
    }
    return out;
  }
  std::optional<Ratios> rhs =
      op->numOperands() == 2 ? operand(1) : std::nullopt;
  size_t count = size_t(result->type().elementCount().constant());
  if (!rhs || (lhs->size() != 1 && lhs->size() != count) ||
      (rhs->size() != 1 && rhs->size() != count))
    return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    const Ratio &a = (*lhs)[lhs->size() == 1 ? 0 : i];
    const Ratio &b = (*rhs)[rhs->size() == 1 ? 0 : i];
    std::optional<Ratio> value;
    if (op->kind() == OpKind::Div) {
      // Exact only by a constant; integers round toward zero.
      if (!b.numerator.isConstant() || b.numerator.constant() <= 0)
        return std::nullopt;
      value = combine(OpKind::Mul, a,
                      Ratio{Dim(b.denominator), b.numerator.constant()});
      if (value && isInteger(result->type().element)) {
        if (!isAtLeast(value->numerator, 0))
          return std::nullopt;
        value = Ratio{floorDiv(value->numerator, value->denominator), 1};
      }
    } else {
      value = combine(op->kind(), a, b);
    }
    if (!value)
      return std::nullopt;
    out.push_back(*value);
  }
  return out;
}
