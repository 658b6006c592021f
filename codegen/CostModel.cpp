// SPDX-License-Identifier: Apache-2.0
// Prices of fusions by what the emitters make of them.
#include "codegen/CostModel.h"

#include "codegen/Emitter.h"
#include "codegen/emitters/ImageConv.h"

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
  return estimate(unit, emitted->emission, context);
}

bool codegen::CostModel::readsImages(const Op &conv,
                                     const Target &target) const {
  return isImageConv(conv, target);
}

/// Weights of a 16-bit product are stored with k innermost, as wgmma reads
/// them and as copies of both operands are alike; others as they are.
static Layout weightLayout(MatMulOp matmul, const Target &target) {
  const TensorType &type = matmul.rhs()->type();
  const Op *producer = matmul.rhs()->definingOp();
  if (!producer || producer->kind() != OpKind::Constant || target.isHost() ||
      bitWidth(type.element) != 16 || matmul.transposeRhs())
    return type.layout;
  std::optional<int64_t> k = type.dim(-2).tryConstant();
  if (!k || *k % 8)
    return type.layout;
  llvm::SmallVector<int64_t, 4> order;
  for (int64_t d = 0; d < type.rank() - 2; d++)
    order.push_back(d);
  order.push_back(type.rank() - 1);
  order.push_back(type.rank() - 2);
  return Layout::permuted(order);
}

Layout codegen::CostModel::preferredLayout(const Op &op, int operand,
                                           const Target &target) const {
  const Value *value = operand < 0 ? op.result() : op.operand(operand);
  int64_t rank = value->type().rank();
  if (auto matmul = llvm::dyn_cast<MatMulOp>(&op); matmul && operand == 1)
    return weightLayout(matmul, target);
  if (rank < 3)
    return Layout();
  switch (op.kind()) {
  case OpKind::Pool:
  case OpKind::Resize:
    return operand <= 0 ? Layout::channelsLast(rank) : Layout();
  case OpKind::Conv: {
    auto conv = llvm::cast<ConvOp>(&op);
    if (operand >= 0 && isImageConv(op, target))
      return value->type().layout;
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
