// SPDX-License-Identifier: Apache-2.0
// Prices of fusions by what the emitters make of them.
#include "codegen/CostModel.h"

#include "codegen/Emitter.h"

using namespace dlc;
using namespace dlc::codegen;

llvm::Expected<Estimate> codegen::CostModel::price(const FusionOp &fusion,
                                                   const Target &target) const {
  Unit unit(*fusion.op());
  if (unit.isEmpty())
    return Estimate();
  EmitContext context{target, symbols};
  llvm::Expected<Emitted> emitted = emit(unit, context);
  if (!emitted)
    return emitted.takeError();
  return emitted->emitter->estimate(unit, context);
}

Layout codegen::CostModel::preferredLayout(const Op &op, int operand,
                                           const Target &target) const {
  const Value *value = operand < 0 ? op.result() : op.operand(operand);
  int64_t rank = value->type().rank();
  if (rank < 3)
    return Layout();
  switch (op.kind()) {
  case OpKind::Pool:
  case OpKind::Resize:
    return operand <= 0 ? Layout::channelsLast(rank) : Layout();
  case OpKind::Conv: {
    auto conv = llvm::cast<ConvOp>(&op);
    if (operand != 1 || conv.groups() == 1 ||
        !conv.filter()->type().dim(1).isConstant(1))
      return Layout::channelsLast(rank);
    // Depthwise: (taps, 1, channel).
    break;
  }
  case OpKind::ConvTranspose:
    // (taps, input channel, output channel): copies along the outputs.
    if (operand != 1)
      return Layout::channelsLast(rank);
    break;
  default:
    return Layout();
  }
  llvm::SmallVector<int64_t, 6> order;
  for (int64_t d = 2; d < rank; d++)
    order.push_back(d);
  bool depthwise = op.kind() == OpKind::Conv;
  order.push_back(depthwise ? 1 : 0);
  order.push_back(depthwise ? 0 : 1);
  return Layout::permuted(order);
}
