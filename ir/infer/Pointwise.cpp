// SPDX-License-Identifier: Apache-2.0
// Types of pointwise ops.
#include "ir/infer/Helpers.h"

namespace dlc {

/// The shape and layout of a pointwise result. Layouts are kept where all
/// operands of full rank have the same one.
static llvm::Expected<TensorType> broadcastOperands(const Op &op,
                                                    DataType element) {
  Shape shape;
  for (Value *v : op.operands()) {
    std::optional<Shape> next = broadcastShapes(shape, v->type().shape);
    if (!next)
      return opError(op, "shapes " + shapeText(shape) + " and " +
                             shapeText(v->type().shape) +
                             " cannot be broadcast");
    shape = std::move(*next);
  }
  TensorType result(element, shape);
  bool first = true;
  for (Value *v : op.operands()) {
    if (v->type().rank() != result.rank() || v->type().shape != shape)
      continue;
    if (!first && v->type().layout != result.layout)
      return result.withLayout({});
    result.layout = v->type().layout;
    first = false;
  }
  return result;
}

static InferResult pointwise(const Op &op, DataType element) {
  llvm::Expected<TensorType> type = broadcastOperands(op, element);
  if (!type)
    return type.takeError();
  return ResultTypes{std::move(*type)};
}

InferResult inferPointwise(const Op &op) {
  return pointwise(op, scalarResultType(op));
}

InferResult inferCast(const Op &op) {
  return pointwise(op, CastOp(const_cast<Op *>(&op)).to());
}

InferResult inferConvert(const Op &op) {
  DataType to = ConvertOp(const_cast<Op *>(&op)).to();
  if (!isFloat(to))
    return opError(op,
                   "expected a floating-point type, found " + stringify(to));
  return pointwise(op, to);
}

} // namespace dlc
