// SPDX-License-Identifier: Apache-2.0
// Creates ops at a place in a graph.
#include "ir/Builder.h"

namespace dlc {

void Builder::setInsertionPoint(Op *before) {
  graph = before->parent();
  place = before->getIterator();
}

void Builder::setInsertionPointAfter(Op *op) {
  graph = op->parent();
  place = std::next(op->getIterator());
}

llvm::Error Builder::finish(Op *op, Op *&result) {
  auto refuse = [op](llvm::Error e) {
    delete op;
    return e;
  };
  if (llvm::Error e = verifyRules(*op))
    return refuse(std::move(e));
  llvm::Expected<llvm::SmallVector<TensorType, 1>> types = inferTypes(*op);
  if (!types)
    return refuse(types.takeError());
  op->setResultTypes(*types);
  graph->insert(place, op);
  if (onCreate)
    onCreate(op);
  result = op;
  return llvm::Error::success();
}

Op *Builder::insert(Op *op) {
  llvm::Error e = finish(op, made);
  DLC_CHECK(!e) << llvm::toString(std::move(e));
  return made;
}

Value *Builder::constant(Constant value) {
  return create<ConstantOp>(std::move(value)).result();
}

Value *Builder::scalar(DataType element, double value) {
  return constant(Constant::scalar(element, value));
}

} // namespace dlc
