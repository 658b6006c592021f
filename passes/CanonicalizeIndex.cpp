// SPDX-License-Identifier: Apache-2.0
// Index ops, reductions and resampling that move nothing or only by a view.
#include "passes/Canonicalize.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

// gather(x, constant index) => slice(x), without the axis for a scalar index;
// likewise for indices a, a + s, a + 2s, ...
static bool gather(GatherOp op, Rewriter &rewriter, PassContext &context) {
  std::optional<Constant> indices = constantOf(op.indices());
  if (!indices || indices->type().rank() > 1 || indices->elements() == 0)
    return false;
  const TensorType &type = op.input()->type();
  int64_t axis = normalAxis(op.axis(), type.rank());
  const Dim &extent = type.shape[axis];
  std::vector<int64_t> at = indices->toInts();
  int64_t step = at.size() > 1 ? at[1] - at[0] : 1;
  bool regular = step != 0;
  for (size_t i = 0; i < at.size(); ++i) {
    regular &= at[i] == at[0] + int64_t(i) * step && (at[i] < 0) == (at[0] < 0);
    // Out of range reads zero, which a slice cannot say.
    int64_t needed = at[i] < 0 ? -at[i] : at[i] + 1;
    if (extent.isConstant() ? needed > extent.constant() : needed > 1) {
      context.decline(*op.op(), "an index may be out of range, where a gather "
                                "reads zero");
      return false;
    }
  }
  if (!regular) {
    context.decline(*op.op(), "the indices do not have one distance");
    return false;
  }
  std::vector<Dim> starts(type.shape.size(), Dim(0));
  std::vector<Dim> sizes(type.shape.begin(), type.shape.end());
  std::vector<int64_t> steps(type.shape.size(), 1);
  starts[axis] = at[0] < 0 ? extent + Dim(at[0]) : Dim(at[0]);
  sizes[axis] = int64_t(at.size());
  steps[axis] = step;
  Builder &builder = rewriter.at(op.op());
  Value *with =
      builder.create<SliceOp>(op.input(), starts, sizes, steps).result();
  if (indices->type().rank() == 0)
    with = builder.create<ReshapeOp>(with, op.result()->type().shape).result();
  return replaceIfSameType(op.op(), with, rewriter);
}

// A reduction over dimensions of size 1, or over none, is a reshape. A sum
// starts from 0, which turns -0 into 0.
static bool reduce(ReduceOp op, Rewriter &rewriter) {
  const TensorType &type = op.input()->type();
  for (int64_t axis : op.axes())
    if (!type.dim(axis).isConstant(1))
      return false;
  if (op.kind() == ReduceKind::Sum && !op.axes().empty() &&
      isFloat(type.element) && !isPlusZeroOrMore(op.input()))
    return false;
  Value *with = rewriter.at(op.op())
                    .create<ReshapeOp>(op.input(), op.result()->type().shape)
                    .result();
  return replaceIfSameType(op.op(), with, rewriter);
}

// resize to the size that x has => x
static bool resize(ResizeOp op, Rewriter &rewriter) {
  if (!llvm::all_of(op.scales(), [](double s) { return s == 1; }) ||
      op.coordinates() == CoordinateMode::TfCropAndResize ||
      op.coordinates() == CoordinateMode::TfHalfPixelForNn)
    return false;
  return replaceIfSameType(op.op(), op.input(), rewriter);
}

bool canonicalizeIndex(Op *op, Rewriter &rewriter, PassContext &context) {
  switch (op->kind()) {
  case OpKind::Gather:
    return gather(GatherOp(op), rewriter, context);
  case OpKind::Reduce:
    return reduce(ReduceOp(op), rewriter);
  case OpKind::Resize:
    return resize(ResizeOp(op), rewriter);
  default:
    return false;
  }
}

} // namespace dlc
