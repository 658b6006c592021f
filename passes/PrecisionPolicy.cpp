// SPDX-License-Identifier: Apache-2.0
// Which ops of a graph stay in f32 when precision is lowered.
#include "passes/PrecisionPolicy.h"
#include "passes/NarrowFloat.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace dlc {

static bool isF32(const Value *value) {
  return value && value->type().element == DataType::F32;
}

bool touchesF32(const Op &op) {
  if (op.kind() == OpKind::Constant)
    return false;
  for (const Value *operand : op.operands())
    if (isF32(operand))
      return true;
  for (unsigned i = 0; i < op.numResults(); ++i)
    if (isF32(op.result(i)))
      return true;
  return false;
}

// Contractions and windows: their operands and results are stored narrow.
static bool readsNarrow(const Op &op) {
  if (op.kind() == OpKind::Pool)
    return PoolOp(const_cast<Op *>(&op)).kind() != PoolKind::Sum;
  return op.kind() == OpKind::MatMul || op.kind() == OpKind::Conv ||
         op.kind() == OpKind::ConvTranspose || op.kind() == OpKind::Attention;
}

// Results that have a larger range, or that lose more, than their operands.
static bool isWideFunction(const Op &op) {
  // Those that stay between -1 and 1 and flatten out lose nothing.
  if (op.hasTrait(OpTrait::Transcendental))
    return op.kind() != OpKind::Sigmoid && op.kind() != OpKind::Tanh;
  switch (op.kind()) {
  case OpKind::Cumulative:
  case OpKind::Lstm:
  case OpKind::NonMaxSuppression:
  case OpKind::Iota:
  case OpKind::If:
  case OpKind::Loop:
  case OpKind::Fusion:
    return true;
  case OpKind::Mul: // a square
    return op.operand(0) == op.operand(1);
  case OpKind::Reduce: {
    ReduceKind kind = ReduceOp(const_cast<Op *>(&op)).kind();
    return kind == ReduceKind::Sum || kind == ReduceKind::Prod;
  }
  case OpKind::Pool:
    return PoolOp(const_cast<Op *>(&op)).kind() == PoolKind::Sum;
  case OpKind::Cast: {
    // Integers beyond the significand, and what becomes one.
    DataType from = op.operand(0)->type().element;
    DataType to = op.result()->type().element;
    return !isFloat(from) || !isFloat(to) || from != to;
  }
  default:
    return false;
  }
}

namespace {
enum class Rounding { Fits, LosesParameter, Overflows };
} // namespace

// What rounding does to a constant: nothing may become infinite, and a single
// parameter (an epsilon, say) may not lose its precision.
static Rounding roundingOf(const Constant &constant, DataType narrow) {
  double limit = largestFinite(narrow);
  if (std::optional<double> c = constant.uniformValue()) {
    double magnitude = std::fabs(*c);
    if (!std::isfinite(magnitude) || magnitude == 0)
      return Rounding::Fits;
    if (magnitude > limit)
      return Rounding::Overflows;
    return magnitude < smallestNormal(narrow) ? Rounding::LosesParameter
                                              : Rounding::Fits;
  }
  llvm::ArrayRef<uint8_t> raw = constant.rawBytes();
  return largestMagnitude(raw.data(), raw.size() / sizeof(float)) <= limit
             ? Rounding::Fits
             : Rounding::Overflows;
}

static bool isExactIn(const Constant &constant, DataType narrow) {
  llvm::ArrayRef<uint8_t> raw = constant.rawBytes();
  for (size_t i = 0; i < raw.size() / sizeof(float); ++i) {
    const float value = loadF32(raw.data(), i);
    uint8_t rounded[sizeof(float)];
    storeFloat(narrow, rounded, 0, value);
    if (loadFloat(narrow, rounded, 0) != value)
      return false;
  }
  return true;
}

// Biases and scales, which are read for every row or pixel: f32 costs nothing,
// and their rounding would move all of these the same way, which no later sum
// averages out.
static bool hasInexactParameter(const Op &op, DataType narrow) {
  return op.hasTrait(OpTrait::Pointwise) &&
         llvm::any_of(op.operands(), [&](const Value *operand) {
           std::optional<Constant> constant = constantOf(operand);
           return constant && constant->type().element == DataType::F32 &&
                  constant->type().shape != op.result()->type().shape &&
                  !isExactIn(*constant, narrow);
         });
}

bool PrecisionPolicy::mustBeWide(Op *op) {
  if (isWideFunction(*op))
    return true;
  for (const Value *operand : op->operands()) {
    std::optional<Constant> constant = constantOf(operand);
    if (!constant || constant->type().element != DataType::F32)
      continue;
    Rounding rounding = roundingOf(*constant, narrow);
    if (rounding == Rounding::Fits)
      continue;
    if (rounding == Rounding::Overflows)
      context.remark(*op, "stays f32: a constant of it would become infinite "
                          "in " +
                              stringify(narrow).str());
    return true;
  }
  // An element type asked for by name stays.
  if (auto matmul = llvm::dyn_cast<MatMulOp>(op))
    return matmul.resultType().has_value();
  if (auto conv = llvm::dyn_cast<ConvOp>(op))
    return conv.resultType().has_value();
  return false;
}

bool PrecisionPolicy::isWideEdge(const Value *value) const {
  if (!isF32(value) || isConstantValue(value) || isStoredNarrow(value))
    return false;
  const Op *op = value->definingOp();
  return !op || wide.contains(op); // inputs keep their type
}

// An op with a wide operand stays wide, until a value is stored narrow.
bool PrecisionPolicy::followsWide(const Op &op) const {
  if (op.hasTrait(OpTrait::Pointwise) || op.kind() == OpKind::Reduce)
    return llvm::any_of(op.operands(), [&](Value *v) {
      return isWideEdge(v) && !(gates.scaled.contains(&op) &&
                                gates.ops.contains(v->definingOp()));
    });
  bool any = false;
  for (const Value *operand : op.operands()) {
    if (!isF32(operand) || isConstantValue(operand))
      continue;
    if (!isWideEdge(operand))
      return false;
    any = true;
  }
  return any;
}

// What only an exponential or a conversion to integers reads is not rounded.
bool PrecisionPolicy::feedsWide(const Op &op) const {
  if (!op.hasTrait(OpTrait::Pointwise) || op.numResults() != 1 ||
      !op.result()->hasOneUse())
    return false;
  const Op *user = op.result()->uses().front().op;
  return (user->hasTrait(OpTrait::Pointwise) || user->kind() == OpKind::Conv) &&
         wide.contains(user);
}

PrecisionPolicy::PrecisionPolicy(Graph &graph, DataType narrow,
                                 PassContext &context)
    : narrow(narrow), context(context), gates(findGates(graph)),
      coordinates(findCoordinates(graph)) {
  for (Op &op : graph) {
    if (!touchesF32(op))
      continue;
    if (mustBeWide(&op) || coordinates.ops.contains(&op)) {
      wide.insert(&op);
    } else if (gates.ops.contains(&op)) {
      // As constant scales: what is off moves every pixel the same way.
      context.decline(op, "it computes a scale or shift of many pixels");
      wide.insert(&op);
    } else if (gates.scaled.contains(&op)) {
      alone.insert(&op);
    } else if (magnifiesRounding(op, narrow)) {
      context.decline(op, "its filter cancels: errors of what it reads are "
                          "large beside what it finds");
      wide.insert(&op);
    } else if (llvm::StringRef why = whyFilterStaysWide(op); !why.empty()) {
      context.decline(op, ("its filter stays f32: " + why).str());
      alone.insert(&op);
    } else if (hasInexactParameter(op, narrow)) {
      alone.insert(&op);
    }
  }
  for (Op &op : graph)
    if (readsNarrow(op) && !wide.contains(&op))
      storedNarrow.insert(op.operands().begin(), op.operands().end());
  for (const Op *op : gates.scaled)
    for (Value *operand : op->operands())
      if (operand && !wide.contains(op) &&
          !gates.ops.contains(operand->definingOp()))
        storedNarrow.insert(operand);
  for (bool changed = true; changed;) {
    changed = false;
    for (Op &op : graph)
      if (touchesF32(op) && !wide.contains(&op) && !readsNarrow(op) &&
          (followsWide(op) || feedsWide(op))) {
        wide.insert(&op);
        changed = true;
      }
  }
}

} // namespace dlc
