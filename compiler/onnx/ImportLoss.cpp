// SPDX-License-Identifier: Apache-2.0
// Losses, which models that were exported with them carry along.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

/// -logits[n, target[n, ...], ...], weighted, and reduced as the node says.
static Value *negativeLogLikelihood(NodeReader &n, NodeBuilder &b,
                                    Value *logits) {
  Value *target = b.cast(n.input(1), DataType::I64);
  enum class Reduction { None, Sum, Mean };
  Reduction reduction = n.choice("reduction", Reduction::Mean,
                                 {{"none", Reduction::None},
                                  {"sum", Reduction::Sum},
                                  {"mean", Reduction::Mean}});
  bool ignores = n.has("ignore_index");
  int64_t ignored = n.integer("ignore_index", 0);
  if (n.failed())
    return nullptr;
  if (logits->type().rank() != target->type().rank() + 1 ||
      logits->type().rank() < 2) {
    n.error("inputs are " + logits->type().str() + " and " +
            target->type().str() + ", expected [N, C, ...] and [N, ...]");
    return nullptr;
  }
  int64_t rank = target->type().rank();
  Value *skip = nullptr, *safe = target;
  if (ignores) {
    Value *mark = b.dim(Dim(ignored), DataType::I64);
    skip = b.emit<EqualOp>(target, mark);
    safe = b.select(skip, b.dim(Dim(0), DataType::I64), target);
  }
  Value *picked = b.emit<GatherElementsOp>(logits, b.unsqueeze(safe, {1}), 1);
  Value *loss = b.emit<NegOp>(b.reshape(picked, target->type().shape));
  Value *weight = n.hasInput(2) ? b.emit<GatherOp>(b.widen(n.input(2)), safe, 0)
                                : b.like(logits, 1);
  if (skip)
    weight = b.select(skip, b.like(logits, 0), weight);
  loss = b.mul(loss, weight);
  if (reduction == Reduction::None)
    return loss;
  std::vector<int64_t> axes = countingAxes(0, rank);
  Value *sum = b.reduce(loss, ReduceKind::Sum, axes, false);
  if (reduction == Reduction::Sum)
    return sum;
  Value *spread = b.broadcast(weight, target->type().shape);
  return b.div(sum, b.reduce(spread, ReduceKind::Sum, axes, false));
}

void importNegativeLogLikelihoodLoss(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  n.result(b.cast(negativeLogLikelihood(n, b, b.widen(x)), x->type().element));
}

void importSoftmaxCrossEntropyLoss(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  if (x->type().rank() < 2)
    return n.error("input 0 has type " + x->type().str() +
                   ", expected [N, C, ...]");
  Value *logits = b.logSoftmax(b.widen(x), {1});
  n.result(0, b.cast(negativeLogLikelihood(n, b, logits), x->type().element));
  n.result(1, b.cast(logits, x->type().element));
}

} // namespace dlc
