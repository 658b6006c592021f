// SPDX-License-Identifier: Apache-2.0
// Types of views.
#include "ir/infer/Helpers.h"

namespace dlc {

static const TensorType &inputType(const Op &op) {
  return op.operand(0)->type();
}

InferResult inferReshape(const Op &op) {
  ReshapeOp reshape(const_cast<Op *>(&op));
  TensorType result = inputType(op).withShape(reshape.shape());
  Dim from = inputType(op).elementCount(), to = result.elementCount();
  if (provedEqual(from, to) == Proof::Refuted)
    return opError(op, shapeText(inputType(op).shape) + " has " + from.str() +
                           " elements, " + shapeText(result.shape) + " has " +
                           to.str());
  return ResultTypes{std::move(result)};
}

InferResult inferTranspose(const Op &op) {
  TransposeOp transpose(const_cast<Op *>(&op));
  const TensorType &in = inputType(op);
  const auto &permutation = transpose.permutation();
  if (llvm::Error e =
          checkLength(op, "permutation", permutation.size(), in.shape.size()))
    return e;
  llvm::SmallVector<bool, 8> seen(permutation.size(), false);
  Shape shape;
  for (int64_t d : permutation) {
    if (llvm::Error e = checkAxis(op, d, in.rank()))
      return e;
    if (seen[d])
      return opError(op, "permutation lists dimension " + llvm::Twine(d) +
                             " twice");
    seen[d] = true;
    shape.push_back(in.dim(d));
  }
  return ResultTypes{in.withShape(shape)};
}

InferResult inferBroadcast(const Op &op) {
  BroadcastOp broadcast(const_cast<Op *>(&op));
  const TensorType &in = inputType(op);
  const auto &shape = broadcast.shape();
  size_t offset = shape.size() - in.shape.size();
  bool fits = shape.size() >= in.shape.size();
  for (size_t i = 0; fits && i != in.shape.size(); ++i)
    fits = in.shape[i].isConstant(1) ||
           provedEqual(in.shape[i], shape[offset + i]) != Proof::Refuted;
  if (!fits)
    return opError(op, shapeText(in.shape) + " cannot be broadcast to " +
                           shapeText(shape));
  return ResultTypes{in.withShape(shape)};
}

InferResult inferSlice(const Op &op) {
  SliceOp slice(const_cast<Op *>(&op));
  const TensorType &in = inputType(op);
  size_t rank = in.shape.size();
  if (llvm::Error e = checkLength(op, "starts", slice.starts().size(), rank))
    return e;
  if (llvm::Error e = checkLength(op, "sizes", slice.sizes().size(), rank))
    return e;
  if (llvm::Error e = checkLength(op, "steps", slice.steps().size(), rank))
    return e;
  for (size_t d = 0; d != rank; ++d) {
    const Dim &start = slice.starts()[d], &size = slice.sizes()[d];
    if (slice.steps()[d] == 0)
      return opError(op, "a step is 0");
    if (size.isConstant(0))
      continue;
    for (const Dim &index : {start, start + (size - 1) * slice.steps()[d]}) {
      Dim room = in.dim(d) - 1 - index;
      if ((index.isConstant() && index.constant() < 0) ||
          (room.isConstant() && room.constant() < 0))
        return opError(op, "index " + index.str() +
                               " is outside of dimension " + llvm::Twine(d) +
                               " of size " + in.dim(d).str());
    }
  }
  return ResultTypes{in.withShape(slice.sizes())};
}

InferResult inferPad(const Op &op) {
  PadOp pad(const_cast<Op *>(&op));
  const TensorType &in = inputType(op);
  if (llvm::Error e = checkLength(op, "low", pad.low().size(), in.shape.size()))
    return e;
  if (llvm::Error e =
          checkLength(op, "high", pad.high().size(), in.shape.size()))
    return e;
  if (Value *value = pad.value()) {
    if (pad.mode() != PadMode::Constant)
      return opError(op, "only mode constant takes a value");
    if (value->type().element != in.element || value->type().rank() != 0)
      return opError(op, "the value must be a scalar " + stringify(in.element) +
                             ", found " + value->type().str());
  }
  Shape shape;
  for (size_t d = 0; d != in.shape.size(); ++d)
    shape.push_back(in.dim(d) + pad.low()[d] + pad.high()[d]);
  return ResultTypes{in.withShape(shape)};
}

InferResult inferConcat(const Op &op) {
  ConcatOp concat(const_cast<Op *>(&op));
  if (op.numOperands() == 0)
    return opError(op, "needs an input");
  const TensorType &first = inputType(op);
  if (llvm::Error e = checkAxis(op, concat.axis(), first.rank()))
    return e;
  Shape shape = first.shape;
  for (Value *v : op.operands().drop_front()) {
    const TensorType &next = v->type();
    if (next.element != first.element || next.rank() != first.rank())
      return opError(op, "inputs must have one element type and rank, found " +
                             first.str() + " and " + next.str());
    for (int64_t d = 0; d != first.rank(); ++d) {
      if (d == concat.axis()) {
        shape[d] = shape[d] + next.dim(d);
        continue;
      }
      if (llvm::Error e = checkEqual(op, "sizes of dimension " + llvm::Twine(d),
                                     shape[d], next.dim(d)))
        return e;
      if (next.dim(d).isConstant())
        shape[d] = next.dim(d);
    }
  }
  return ResultTypes{first.withShape(shape)};
}

InferResult inferLayoutCopy(const Op &op) {
  const Layout &layout = LayoutCopyOp(const_cast<Op *>(&op)).layout();
  return ResultTypes{inputType(op).withLayout(layout)};
}

} // namespace dlc
