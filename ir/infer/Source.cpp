// SPDX-License-Identifier: Apache-2.0
// Types of ops without operands, and of control flow.
#include "ir/infer/Helpers.h"

namespace dlc {

InferResult inferConstant(const Op &op) {
  return ResultTypes{ConstantOp(const_cast<Op *>(&op)).value().type()};
}

InferResult inferDims(const Op &op) {
  DimsOp dims(const_cast<Op *>(&op));
  if (!dims.scalar())
    return ResultTypes{
        TensorType(DataType::I64, {int64_t(dims.values().size())})};
  if (llvm::Error e = checkLength(op, "values", dims.values().size(), 1))
    return e;
  return ResultTypes{TensorType(DataType::I64, {})};
}

InferResult inferIota(const Op &op) {
  IotaOp iota(const_cast<Op *>(&op));
  if (llvm::Error e = checkAxis(op, iota.axis(), int64_t(iota.shape().size())))
    return e;
  if (iota.type() == DataType::Bool)
    return opError(op, "the type must be one of numbers, found bool");
  return ResultTypes{TensorType(iota.type(), iota.shape())};
}

static llvm::SmallVector<TensorType, 1> outputTypes(const Graph &graph) {
  llvm::SmallVector<TensorType, 1> types;
  for (Value *v : graph.outputs())
    types.push_back(v->type());
  return types;
}

InferResult inferFusion(const Op &op) { return outputTypes(op.region(0)); }

InferResult inferIf(const Op &op) {
  auto thenTypes = outputTypes(op.region(0));
  auto elseTypes = outputTypes(op.region(1));
  if (thenTypes.size() != elseTypes.size())
    return opError(op, "the branches yield " + llvm::Twine(thenTypes.size()) +
                           " and " + llvm::Twine(elseTypes.size()) +
                           " results");
  for (size_t i = 0; i != thenTypes.size(); ++i) {
    bool same = thenTypes[i].element == elseTypes[i].element &&
                thenTypes[i].rank() == elseTypes[i].rank();
    for (int64_t d = 0; same && d != thenTypes[i].rank(); ++d)
      same = provedEqual(thenTypes[i].dim(d), elseTypes[i].dim(d)) !=
             Proof::Refuted;
    if (!same)
      return opError(op, "result " + llvm::Twine(i) +
                             " must have one type in both branches, found " +
                             thenTypes[i].str() + " and " + elseTypes[i].str());
  }
  return thenTypes;
}

} // namespace dlc
