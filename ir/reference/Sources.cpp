// SPDX-License-Identifier: Apache-2.0
// Ops without operands.
#include "ir/reference/Walk.h"

namespace dlc::reference {

Expected<Tensors> evaluateConstant(const Context &c) {
  auto op = llvm::cast<ConstantOp>(&c.op);
  return Tensors{Tensor::fromConstant(op.value())};
}

Expected<Tensors> evaluateDims(const Context &c) {
  auto op = llvm::cast<DimsOp>(&c.op);
  Expected<Index> values = c.values(op.values());
  if (!values)
    return values.takeError();
  if (op.scalar() && values->size() != 1)
    return c.error("a scalar has one value, got " +
                   llvm::Twine(values->size()));
  Index shape;
  if (!op.scalar())
    shape = {int64_t(values->size())};
  Tensor result(DataType::I64, shape);
  llvm::copy(*values, result.as<int64_t>());
  return Tensors{result};
}

Expected<Tensors> evaluateIota(const Context &c) {
  auto op = llvm::cast<IotaOp>(&c.op);
  Expected<Index> shape = c.values(op.shape());
  if (!shape)
    return shape.takeError();
  int64_t axis = positiveAxis(op.axis(), int64_t(shape->size()));
  Tensor indices(DataType::I64, *shape);
  int64_t *to = indices.as<int64_t>();
  forEachIndex(*shape, [&](const Index &i, int64_t at) { to[at] = i[axis]; });
  if (!isFloat(c.working()))
    return Tensors{indices.converted(c.working())};
  Tensor result(c.working(), *shape);
  for (int64_t i = 0; i < result.elements(); i++)
    result.setFloat(i, double(indices.as<int64_t>()[i]));
  return Tensors{result};
}

} // namespace dlc::reference
