// SPDX-License-Identifier: Apache-2.0
// Contractions and windows: transposes and pads become their attributes.
#include "passes/Canonicalize.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include <limits>

namespace dlc {

static bool swapsLastTwo(Value *value) {
  TransposeOp transpose(value->definingOp());
  std::vector<int64_t> permutation = transpose.permutation();
  size_t rank = permutation.size();
  if (rank < 2 || !transpose.input()->type().layout.isRowMajor())
    return false;
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return llvm::is_sorted(permutation);
}

// A broadcast of leading dimensions only: matmul broadcasts those by itself.
static bool keepsLastTwo(Value *value) {
  llvm::ArrayRef<Dim> from = value->definingOp()->operand(0)->type().shape;
  llvm::ArrayRef<Dim> to = value->type().shape;
  return from.size() >= 2 && sameShape(from.take_back(2), to.take_back(2));
}

// matmul(transpose(x), y) => matmul(x, y) {transposeLhs}, likewise for rhs;
// a broadcast of the batch goes; matmul(x, y: 1x1xKxN) => matmul(x, y: KxN)
static bool matmul(MatMulOp op, Rewriter &rewriter, PassContext &context) {
  Value *operands[2] = {op.lhs(), op.rhs()};
  bool transposed[2] = {op.transposeLhs(), op.transposeRhs()};
  bool changed = false;
  for (int i = 0; i < 2; ++i) {
    Value *x = nullptr;
    match::Why why = context.why();
    if (match::match(operands[i],
                     match::where(match::op<TransposeOp>(match::value(x)),
                                  swapsLastTwo,
                                  "the transpose before it does not only swap "
                                  "the last two dimensions"),
                     &why)) {
      operands[i] = x;
      transposed[i] = !transposed[i];
      changed = true;
    } else if (match::match(operands[i], match::op<TransposeOp>())) {
      context.decline(*op.op(), why);
    }
    if (!match::match(operands[i],
                      match::where(match::op<BroadcastOp>(match::value(x)),
                                   keepsLastTwo,
                                   "the broadcast before it makes the matrices "
                                   "larger"),
                      &why)) {
      if (match::match(operands[i], match::op<BroadcastOp>()))
        context.decline(*op.op(), why);
      continue;
    }
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

static bool addsConstantAmounts(Value *value) {
  PadOp pad(value->definingOp());
  auto isAmount = [](const Dim &d) {
    return d.isConstant() && d.constant() >= 0;
  };
  return pad.mode() == PadMode::Constant && llvm::all_of(pad.low(), isAmount) &&
         llvm::all_of(pad.high(), isAmount);
}

// A pad that adds constant amounts of `fill`.
template <match::Pattern Fill> static auto padOf(PadOp &pad, Fill fill) {
  return match::where(match::op(pad, match::value(), fill), addsConstantAmounts,
                      "expected constant amounts of a constant");
}

static auto padOfZeros(PadOp &pad) {
  return padOf(pad, match::optional(match::uniform(0.0)));
}

// conv(pad(x, 0)) => conv(x) with larger pads
static bool convPad(ConvOp op, Rewriter &rewriter, PassContext &context) {
  PadOp pad;
  match::Why why = context.why();
  if (!match::match(op.input(), padOfZeros(pad), &why)) {
    if (match::match(op.input(), match::op<PadOp>()))
      context.decline(*op.op(), why.preface("the pad before it is not one of "
                                            "constant zeros"));
    return false;
  }
  const std::vector<int64_t> padLow = *constantDims(pad.low());
  const std::vector<int64_t> padHigh = *constantDims(pad.high());
  if (padLow[0] || padHigh[0] || padLow[1] || padHigh[1]) {
    context.decline(*op.op(), "the pad before it is not only spatial");
    return false;
  }
  std::vector<int64_t> low = op.padLow(), high = op.padHigh();
  for (size_t i = 0; i < low.size(); ++i) {
    low[i] += padLow[i + 2];
    high[i] += padHigh[i + 2];
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
  PadOp pad;
  if (!match::match(op.input(), match::op<PadOp>()))
    return false;
  match::Why why = context.why();
  auto isZero = [](int64_t v) { return v == 0; };
  bool fits = false;
  switch (op.kind()) {
  case PoolKind::Max:
    fits = match::match(
        op.input(),
        padOf(pad, match::uniform(-std::numeric_limits<double>::infinity())),
        &why);
    break;
  case PoolKind::Average:
    fits = match::match(op.input(), padOfZeros(pad), &why) &&
           llvm::all_of(op.padLow(), isZero) &&
           llvm::all_of(op.padHigh(), isZero) &&
           llvm::all_of(op.ceilExtra(), isZero);
    break;
  case PoolKind::Sum:
    fits = match::match(op.input(), padOfZeros(pad), &why);
    break;
  }
  if (!fits) {
    context.decline(*op.op(), why.preface("the pad before it does not fill "
                                          "with what the window takes for "
                                          "nothing"));
    return false;
  }
  std::vector<int64_t> low = op.padLow(), high = op.padHigh();
  for (size_t i = 0; i < low.size(); ++i) {
    // A window that lies in the pads only would be empty: not the same.
    low[i] += pad.low()[i].constant();
    high[i] += pad.high()[i].constant();
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

// A contraction that reads a tensor without elements => zeros: its sums are of
// nothing.
static bool emptySums(Op *op, Rewriter &rewriter) {
  if (llvm::none_of(op->operands(), [](const Value *operand) {
        return operand->type().elementCount().isConstant(0);
      }))
    return false;
  const TensorType &type = op->result()->type();
  Builder &builder = rewriter.at(op);
  Value *zero = builder.scalar(type.element, 0);
  return replaceIfSameType(
      op, builder.create<BroadcastOp>(zero, type.shape).result(), rewriter);
}

bool canonicalizeLinear(Op *op, Rewriter &rewriter, PassContext &context) {
  switch (op->kind()) {
  case OpKind::MatMul:
    return emptySums(op, rewriter) || matmul(MatMulOp(op), rewriter, context);
  case OpKind::Conv:
    return emptySums(op, rewriter) || convPad(ConvOp(op), rewriter, context);
  case OpKind::ConvTranspose:
    return emptySums(op, rewriter);
  case OpKind::Pool:
    return poolPad(PoolOp(op), rewriter, context);
  default:
    return false;
  }
}

} // namespace dlc
