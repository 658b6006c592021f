// SPDX-License-Identifier: Apache-2.0
// Prices of fusions, from what the emitters would make of them.
#include "codegen/CostModel.h"
#include "codegen/Emitter.h"

using namespace dlc;
using namespace dlc::codegen;

llvm::Expected<Estimate> codegen::CostModel::price(const FusionOp &fusion,
                                                   const Target &target) const {
  Unit unit(*fusion.op());
  EmitContext context{target, symbols};
  llvm::Expected<Emitted> emitted = emit(unit, context);
  if (!emitted)
    return emitted.takeError();
  return emitted->emitter->estimate(unit, context);
}

Layout codegen::CostModel::preferredLayout(const Op &op, int operand,
                                           const Target &target) const {
  const Value *value =
      operand < 0 ? op.result() : op.operand(unsigned(operand));
  if (!value)
    return {};
  switch (op.kind()) {
  case OpKind::Conv:
  case OpKind::ConvTranspose:
  case OpKind::Pool:
  case OpKind::Resize:
    return Layout::channelsLast(value->type().rank());
  default:
    return {};
  }
}
