// SPDX-License-Identifier: Apache-2.0
// Types of reductions, scans and selections along an axis.
#include "ir/infer/Helpers.h"

namespace dlc {

InferResult inferSameAsFirst(const Op &op) {
  const TensorType &type = op.operand(0)->type();
  return ResultTypes{TensorType(type.element, type.shape)};
}

InferResult inferReduce(const Op &op) {
  ReduceOp reduce(const_cast<Op *>(&op));
  const TensorType &in = reduce.input()->type();
  bool logical =
      reduce.kind() == ReduceKind::Any || reduce.kind() == ReduceKind::All;
  if (logical != (in.element == DataType::Bool))
    return opError(
        op, "kind " + stringify(reduce.kind()) +
                (logical ? " takes bool, found " : " takes numbers, found ") +
                stringify(in.element));
  llvm::SmallVector<bool, 8> reduced(in.shape.size(), false);
  for (int64_t axis : reduce.axes()) {
    if (llvm::Error e = checkAxis(op, axis, in.rank()))
      return e;
    if (reduced[axis])
      return opError(op, "axis " + llvm::Twine(axis) + " is listed twice");
    reduced[axis] = true;
  }
  Shape shape;
  for (size_t d = 0; d != in.shape.size(); ++d) {
    if (!reduced[d])
      shape.push_back(in.dim(d));
    else if (reduce.keepDims())
      shape.push_back(1);
  }
  return ResultTypes{in.withShape(shape)};
}

InferResult inferArgReduce(const Op &op) {
  ArgReduceOp reduce(const_cast<Op *>(&op));
  const TensorType &in = reduce.input()->type();
  if (llvm::Error e = checkAxis(op, reduce.axis(), in.rank()))
    return e;
  if (in.dim(reduce.axis()).isConstant(0))
    return opError(op, "there is no element along axis " +
                           llvm::Twine(reduce.axis()));
  Shape shape = in.shape;
  if (reduce.keepDims())
    shape[reduce.axis()] = 1;
  else
    shape.erase(shape.begin() + reduce.axis());
  return ResultTypes{TensorType(DataType::I64, shape)};
}

InferResult inferTopK(const Op &op) {
  TopKOp topk(const_cast<Op *>(&op));
  const TensorType &in = topk.input()->type();
  if (llvm::Error e = checkAxis(op, topk.axis(), in.rank()))
    return e;
  if (llvm::Error e = checkLength(op, "k", topk.k().size(), 1))
    return e;
  const Dim &k = topk.k()[0];
  Dim room = in.dim(topk.axis()) - k;
  if (room.isConstant() && room.constant() < 0)
    return opError(op, "k is " + k.str() + " of " + in.dim(topk.axis()).str() +
                           " elements");
  Shape shape = in.shape;
  shape[topk.axis()] = k;
  return ResultTypes{TensorType(in.element, shape),
                     TensorType(DataType::I64, shape)};
}

} // namespace dlc
