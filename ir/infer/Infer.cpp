// SPDX-License-Identifier: Apache-2.0
// Result types of any op: the dispatch over the records' rules.
#include "ir/infer/Helpers.h"

namespace dlc {

static InferResult dispatch(const Op &op) {
  switch (op.kind()) {
#define DLC_OP_INFER
#include "ir/Ops.inc"
  default:
    break;
  }
  // Ops whose maker says the types.
  llvm::SmallVector<TensorType, 1> types;
  for (unsigned i = 0; i != op.numResults(); ++i)
    types.push_back(op.result(i)->type());
  return types;
}

InferResult inferTypes(const Op &op) {
  InferResult types = dispatch(op);
  if (!types)
    return types;
  for (const TensorType &type : *types)
    for (const Dim &d : type.shape) {
      if (d.overflowed())
        return opError(op, "a dimension of the result overflows 64 bits");
      if (d.isConstant() && d.constant() < 0)
        return opError(op, "the result would have a negative size: " +
                               shapeText(type.shape));
    }
  return types;
}

} // namespace dlc
