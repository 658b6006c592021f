// SPDX-License-Identifier: Apache-2.0
// Contractions and windows: transposes and pads become their attributes.
#include "passes/Canonicalize.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace dlc {

template <class T> static T producer(Value *value) {
  return llvm::dyn_cast_if_present<T>(value->definingOp());
}

// The operand of a transpose that swaps only the last two dimensions.
static Value *swappedLastTwo(Value *value) {
  TransposeOp transpose = producer<TransposeOp>(value);
  if (!transpose || !transpose.input()->type().layout.isRowMajor())
    return nullptr;
  std::vector<int64_t> permutation = transpose.permutation();
  size_t rank = permutation.size();
  if (rank < 2)
    return nullptr;
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return llvm::is_sorted(permutation) ? transpose.input() : nullptr;
}

// A broadcast of leading dimensions only: matmul broadcasts those by itself.
static Value *batchBroadcastOf(Value *value) {
  BroadcastOp broadcast = producer<BroadcastOp>(value);
  if (!broadcast)
    return nullptr;
  llvm::ArrayRef<Dim> from = broadcast.input()->type().shape;
  llvm::ArrayRef<Dim> to = value->type().shape;
  if (from.size() < 2 || !sameShape(from.take_back(2), to.take_back(2)))
    return nullptr;
  return broadcast.input();
}

// matmul(transpose(x), y) => matmul(x, y) {transposeLhs}, likewise for rhs;
// a broadcast of the batch goes; matmul(x, y: 1x1xKxN) => matmul(x, y: KxN)
static bool matmul(MatMulOp op, Rewriter &rewriter) {
  Value *operands[2] = {op.lhs(), op.rhs()};
  bool transposed[2] = {op.transposeLhs(), op.transposeRhs()};
  bool changed = false;
  for (int i = 0; i < 2; ++i) {
    if (Value *x = swappedLastTwo(operands[i])) {
      operands[i] = x;
      transposed[i] = !transposed[i];
      changed = true;
    }
    Value *x = batchBroadcastOf(operands[i]);
    if (!x)
      continue;
    // The other operand must still give the batch its shape.
    llvm::ArrayRef<Dim> result = op.result()->type().shape;
    llvm::ArrayRef<Dim> own = x->type().shape;
    llvm::ArrayRef<Dim> other = operands[1 - i]->type().shape;
    std::optional<Shape> batch =
        broadcastShapes({Shape(own.drop_back(2)), Shape(other.drop_back(2))});
    if (batch && sameShape(*batch, result.drop_back(2))) {
      operands[i] = x;
      changed = true;
    }
  }
  Builder &builder = rewriter.at(op.op());
  llvm::ArrayRef<Dim> rhs = operands[1]->type().shape;
  if (rhs.size() > 2 && operands[0]->type().rank() == int64_t(rhs.size()) &&
      llvm::all_of(rhs.drop_back(2),
                   [](const Dim &d) { return d.isConstant(1); })) {
    operands[1] =
        builder.create<ReshapeOp>(operands[1], rhs.take_back(2)).result();
    changed = true;
  }
  if (!changed)
    return false;
  Value *with = builder
                    .create<MatMulOp>(operands[0], operands[1], transposed[0],
                                      transposed[1], op.resultType(), op.tf32())
                    .result();
  return replaceIfSameType(op.op(), with, rewriter);
}

namespace {
/// Non-negative constant amounts of a pad, and what it fills with.
struct ConstantPad {
  std::vector<int64_t> low, high;
  double value = 0;
};
} // namespace

static std::optional<ConstantPad> constantPad(PadOp pad) {
  if (!pad || pad.mode() != PadMode::Constant)
    return std::nullopt;
  std::optional<std::vector<int64_t>> low = constantDims(pad.low());
  std::optional<std::vector<int64_t>> high = constantDims(pad.high());
  std::optional<double> value =
      pad.value() ? uniformOf(pad.value()) : std::optional<double>(0);
  if (!low || !high || !value)
    return std::nullopt;
  for (size_t i = 0; i < low->size(); ++i)
    if ((*low)[i] < 0 || (*high)[i] < 0)
      return std::nullopt;
  return ConstantPad{*low, *high, *value};
}

// conv(pad(x, 0)) => conv(x) with larger pads
static bool convPad(ConvOp op, Rewriter &rewriter, PassContext &context) {
  PadOp pad = producer<PadOp>(op.input());
  if (!pad)
    return false;
  std::optional<ConstantPad> by = constantPad(pad);
  if (!by || by->value != 0) {
    context.decline(*op.op(), "the pad before it is not one of constant zeros");
    return false;
  }
  if (by->low[0] || by->high[0] || by->low[1] || by->high[1]) {
    context.decline(*op.op(), "the pad before it is not only spatial");
    return false;
  }
  std::vector<int64_t> low = op.padLow(), high = op.padHigh();
  for (size_t i = 0; i < low.size(); ++i) {
    low[i] += by->low[i + 2];
    high[i] += by->high[i + 2];
  }
  Value *with = rewriter.at(op.op())
                    .create<ConvOp>(pad.input(), op.filter(), op.strides(), low,
                                    high, op.dilations(), op.groups(),
                                    op.resultType(), op.tf32())
                    .result();
  return replaceIfSameType(op.op(), with, rewriter);
}

// max_pool(pad(x, -inf)) => max_pool(x) with larger pads;
// average_pool(pad(x, 0)) without pads of its own => the same with pads that
// count; sum_pool(pad(x, 0)) => sum_pool(x) with larger pads
static bool poolPad(PoolOp op, Rewriter &rewriter, PassContext &context) {
  PadOp pad = producer<PadOp>(op.input());
  if (!pad)
    return false;
  std::optional<ConstantPad> by = constantPad(pad);
  auto isZero = [](int64_t v) { return v == 0; };
  bool noPads = llvm::all_of(op.padLow(), isZero) &&
                llvm::all_of(op.padHigh(), isZero) &&
                llvm::all_of(op.ceilExtra(), isZero);
  bool fits = false;
  if (by) {
    switch (op.kind()) {
    case PoolKind::Max:
      fits = std::isinf(by->value) && by->value < 0;
      break;
    case PoolKind::Average:
      fits = by->value == 0 && noPads;
      break;
    case PoolKind::Sum:
      fits = by->value == 0;
      break;
    }
  }
  if (!fits) {
    context.decline(*op.op(), "the pad before it does not fill with what the "
                              "window takes for nothing");
    return false;
  }
  std::vector<int64_t> low = op.padLow(), high = op.padHigh();
  for (size_t i = 0; i < low.size(); ++i) {
    // A window that lies in the pads only would be empty: not the same.
    low[i] += by->low[i];
    high[i] += by->high[i];
    if (low[i] >= op.window()[i] || high[i] >= op.window()[i]) {
      context.decline(*op.op(), "a window would lie in the pads only");
      return false;
    }
  }
  bool counts = op.kind() == PoolKind::Average || op.countIncludePad();
  Value *with =
      rewriter.at(op.op())
          .create<PoolOp>(pad.input(), op.kind(), op.window(), op.strides(),
                          low, high, op.dilations(), counts, op.ceilExtra())
          .result();
  return replaceIfSameType(op.op(), with, rewriter);
}

bool canonicalizeLinear(Op *op, Rewriter &rewriter, PassContext &context) {
  switch (op->kind()) {
  case OpKind::MatMul:
    return matmul(MatMulOp(op), rewriter);
  case OpKind::Conv:
    return convPad(ConvOp(op), rewriter, context);
  case OpKind::Pool:
    return poolPad(PoolOp(op), rewriter, context);
  default:
    return false;
  }
}

} // namespace dlc
