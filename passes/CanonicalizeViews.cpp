// SPDX-License-Identifier: Apache-2.0
// Views of one operand: what does nothing, what composes.
#include "passes/Canonicalize.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

template <class T> static T producer(Value *value) {
  return llvm::dyn_cast_if_present<T>(value->definingOp());
}

static bool allZero(llvm::ArrayRef<Dim> dims) {
  return llvm::all_of(dims, [](const Dim &d) { return d.isConstant(0); });
}

// Amounts of a pad whose input gets more or fewer dimensions of size 1; nothing
// if the reshape does anything else.
static std::optional<std::vector<Dim>> amountsFor(llvm::ArrayRef<Dim> from,
                                                  llvm::ArrayRef<Dim> to,
                                                  llvm::ArrayRef<Dim> amounts) {
  std::vector<Dim> result;
  size_t i = 0;
  auto skipOnes = [&] {
    while (i < from.size() && from[i].isConstant(1) && amounts[i].isConstant(0))
      ++i;
  };
  for (const Dim &dim : to) {
    if (dim.isConstant(1) && !(i < from.size() && from[i] == dim)) {
      result.push_back(0);
      continue;
    }
    if (i < from.size() && from[i] != dim)
      skipOnes();
    if (i == from.size() || from[i] != dim)
      return std::nullopt;
    result.push_back(amounts[i++]);
  }
  skipOnes();
  if (i != from.size())
    return std::nullopt;
  return result;
}

// reshape(pad(x)) => pad(reshape(x)) where the reshape adds or drops dimensions
// of size 1: the pad may then become a convolution's.
static bool reshapeOfPad(ReshapeOp op, PadOp pad, Rewriter &rewriter) {
  llvm::ArrayRef<Dim> from = op.input()->type().shape;
  llvm::ArrayRef<Dim> to = op.result()->type().shape;
  std::optional<std::vector<Dim>> low = amountsFor(from, to, pad.low());
  std::optional<std::vector<Dim>> high = amountsFor(from, to, pad.high());
  if (!low || !high || !op.input()->hasOneUse())
    return false;
  std::vector<Dim> shape;
  for (size_t i = 0; i < to.size(); ++i)
    shape.push_back(to[i] - (*low)[i] - (*high)[i]);
  Builder &builder = rewriter.at(op.op());
  Value *x = builder.create<ReshapeOp>(pad.input(), shape).result();
  Value *with =
      builder.create<PadOp>(x, pad.value(), *low, *high, pad.mode()).result();
  return replaceIfSameType(op.op(), with, rewriter);
}

// reshape(x) to x's own shape => x; reshape(reshape(x)) => reshape(x)
static bool reshape(ReshapeOp op, Rewriter &rewriter) {
  if (replaceIfSameType(op.op(), op.input(), rewriter))
    return true;
  if (PadOp pad = producer<PadOp>(op.input()))
    return reshapeOfPad(op, pad, rewriter);
  ReshapeOp inner = producer<ReshapeOp>(op.input());
  if (!inner)
    return false;
  rewriter.setOperand(op.op(), 0, inner.input());
  return true;
}

// Does the permutation leave the order of the dimensions that are not 1?
static bool movesOnlyOnes(llvm::ArrayRef<int64_t> permutation,
                          llvm::ArrayRef<Dim> shape) {
  int64_t last = -1;
  for (int64_t p : permutation) {
    if (shape[p].isConstant(1))
      continue;
    if (p < last)
      return false;
    last = p;
  }
  return true;
}

// transpose by the identity => x; two transposes compose; one that moves only
// dimensions of size 1 is a reshape.
static bool transpose(TransposeOp op, Rewriter &rewriter) {
  const TensorType &type = op.input()->type();
  std::vector<int64_t> permutation = op.permutation();
  if (llvm::is_sorted(permutation))
    return replaceIfSameType(op.op(), op.input(), rewriter);
  if (TransposeOp inner = producer<TransposeOp>(op.input())) {
    std::vector<int64_t> both;
    for (int64_t p : permutation)
      both.push_back(inner.permutation()[p]);
    Value *with =
        rewriter.at(op.op()).create<TransposeOp>(inner.input(), both).result();
    return replaceIfSameType(op.op(), with, rewriter);
  }
  if (!type.layout.isRowMajor() || !op.result()->type().layout.isRowMajor() ||
      !movesOnlyOnes(permutation, type.shape))
    return false;
  Value *with = rewriter.at(op.op())
                    .create<ReshapeOp>(op.input(), op.result()->type().shape)
                    .result();
  return replaceIfSameType(op.op(), with, rewriter);
}

// broadcast to the same shape => x; two compose; one that only adds leading
// dimensions of size 1 is a reshape.
static bool broadcast(BroadcastOp op, Rewriter &rewriter) {
  if (replaceIfSameType(op.op(), op.input(), rewriter))
    return true;
  if (BroadcastOp inner = producer<BroadcastOp>(op.input())) {
    rewriter.setOperand(op.op(), 0, inner.input());
    return true;
  }
  llvm::ArrayRef<Dim> from = op.input()->type().shape;
  llvm::ArrayRef<Dim> to = op.result()->type().shape;
  size_t added = to.size() - from.size();
  if (!sameShape(from, to.drop_front(added)) ||
      !llvm::all_of(to.take_front(added),
                    [](const Dim &d) { return d.isConstant(1); }))
    return false;
  Value *with = rewriter.at(op.op()).create<ReshapeOp>(op.input(), to).result();
  return replaceIfSameType(op.op(), with, rewriter);
}

// slice(concat(..., x, ...)) that lies in x => slice(x)
static bool sliceOfConcat(SliceOp op, ConcatOp concat, Rewriter &rewriter) {
  int64_t axis = normalAxis(concat.axis(), op.input()->type().rank());
  if (op.steps()[axis] != 1)
    return false;
  const Dim &start = op.starts()[axis];
  const Dim &size = op.sizes()[axis];
  Dim offset = 0;
  for (Value *part : concat.inputs()) {
    const Dim &extent = part->type().shape[axis];
    // Known differences are enough: symbols on both sides may cancel.
    Dim before = start - offset, after = offset + extent - start - size;
    if (before.isConstant() && before.constant() >= 0 && after.isConstant() &&
        after.constant() >= 0) {
      std::vector<Dim> starts = op.starts();
      starts[axis] = before;
      Value *with = rewriter.at(op.op())
                        .create<SliceOp>(part, starts, op.sizes(), op.steps())
                        .result();
      return replaceIfSameType(op.op(), with, rewriter);
    }
    offset = offset + extent;
  }
  return false;
}

// a slice of everything => x; slice(slice(x)) => slice(x)
static bool slice(SliceOp op, Rewriter &rewriter) {
  bool whole = allZero(op.starts()) &&
               llvm::all_of(op.steps(), [](int64_t s) { return s == 1; });
  if (whole && replaceIfSameType(op.op(), op.input(), rewriter))
    return true;
  if (SliceOp inner = producer<SliceOp>(op.input())) {
    std::vector<Dim> starts;
    std::vector<int64_t> steps;
    for (size_t i = 0; i < op.starts().size(); ++i) {
      starts.push_back(inner.starts()[i] +
                       op.starts()[i] * Dim(inner.steps()[i]));
      steps.push_back(inner.steps()[i] * op.steps()[i]);
    }
    Value *with = rewriter.at(op.op())
                      .create<SliceOp>(inner.input(), starts, op.sizes(), steps)
                      .result();
    return replaceIfSameType(op.op(), with, rewriter);
  }
  if (ConcatOp concat = producer<ConcatOp>(op.input()))
    return sliceOfConcat(op, concat, rewriter);
  return false;
}

// a pad by nothing => x; a pad that only crops is a slice; two constant pads
// with one value compose.
static bool pad(PadOp op, Rewriter &rewriter, PassContext &context) {
  if (allZero(op.low()) && allZero(op.high()))
    return replaceIfSameType(op.op(), op.input(), rewriter);
  std::optional<std::vector<int64_t>> low = constantDims(op.low());
  std::optional<std::vector<int64_t>> high = constantDims(op.high());
  if (!low || !high)
    return false;
  auto negative = [](int64_t v) { return v <= 0; };
  if (llvm::all_of(*low, negative) && llvm::all_of(*high, negative)) {
    std::vector<Dim> starts;
    for (int64_t v : *low)
      starts.push_back(-v);
    std::vector<int64_t> steps(starts.size(), 1);
    Value *with = rewriter.at(op.op())
                      .create<SliceOp>(op.input(), starts,
                                       op.result()->type().shape, steps)
                      .result();
    return replaceIfSameType(op.op(), with, rewriter);
  }
  PadOp inner = producer<PadOp>(op.input());
  if (!inner || inner.mode() != PadMode::Constant ||
      op.mode() != PadMode::Constant)
    return false;
  auto value = [](PadOp pad) {
    return pad.value() ? uniformOf(pad.value()) : std::optional<double>(0);
  };
  if (!value(op) || value(op) != value(inner)) {
    context.decline(*op.op(), "the pad before it fills with another value");
    return false;
  }
  std::optional<std::vector<int64_t>> lowInner = constantDims(inner.low());
  std::optional<std::vector<int64_t>> highInner = constantDims(inner.high());
  if (!lowInner || !highInner)
    return false;
  std::vector<Dim> lowBoth, highBoth;
  for (size_t i = 0; i < low->size(); ++i) {
    if ((*low)[i] < 0 || (*high)[i] < 0 || (*lowInner)[i] < 0 ||
        (*highInner)[i] < 0)
      return false;
    lowBoth.push_back((*low)[i] + (*lowInner)[i]);
    highBoth.push_back((*high)[i] + (*highInner)[i]);
  }
  Value *with = rewriter.at(op.op())
                    .create<PadOp>(inner.input(), op.value(), lowBoth, highBoth,
                                   PadMode::Constant)
                    .result();
  return replaceIfSameType(op.op(), with, rewriter);
}

// layout_copy to the layout that x has => x; two => the second
static bool layoutCopy(LayoutCopyOp op, Rewriter &rewriter) {
  if (replaceIfSameType(op.op(), op.input(), rewriter))
    return true;
  LayoutCopyOp inner = producer<LayoutCopyOp>(op.input());
  if (!inner)
    return false;
  rewriter.setOperand(op.op(), 0, inner.input());
  return true;
}

bool canonicalizeView(Op *op, Rewriter &rewriter, PassContext &context) {
  switch (op->kind()) {
  case OpKind::Reshape:
    return reshape(ReshapeOp(op), rewriter);
  case OpKind::Transpose:
    return transpose(TransposeOp(op), rewriter);
  case OpKind::Broadcast:
    return broadcast(BroadcastOp(op), rewriter);
  case OpKind::Slice:
    return slice(SliceOp(op), rewriter);
  case OpKind::Pad:
    return pad(PadOp(op), rewriter, context);
  case OpKind::LayoutCopy:
    return layoutCopy(LayoutCopyOp(op), rewriter);
  default:
    return false;
  }
}

} // namespace dlc
