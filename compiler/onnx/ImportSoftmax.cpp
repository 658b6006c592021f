// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and Hardmax: up to opset 12 over all dimensions from
// `axis` on, from 13 along that one.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

static std::vector<int64_t> softmaxAxes(NodeReader &n) {
  int64_t rank = n.input(0)->type().rank();
  if (n.opset() >= 13)
    return {n.axis("axis", -1, rank)};
  return countingAxes(n.axis("axis", 1, rank, /*mayBeRank=*/true), rank);
}

void importSoftmax(NodeReader &n, NodeBuilder &b) {
  std::vector<int64_t> axes = softmaxAxes(n);
  n.result(b.softmax(n.input(0), axes));
}

void importLogSoftmax(NodeReader &n, NodeBuilder &b) {
  std::vector<int64_t> axes = softmaxAxes(n);
  n.result(b.logSoftmax(n.input(0), axes));
}

/// 1 at the first largest element, 0 elsewhere.
void importHardmax(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  std::vector<int64_t> axes = softmaxAxes(n);
  if (n.failed())
    return;
  const Shape &shape = x->type().shape;
  // One axis, of all elements that compete.
  std::vector<Dim> flat;
  Dim last(1);
  for (int64_t i = 0; i < x->type().rank(); ++i) {
    if (llvm::is_contained(axes, i))
      last = last * shape[i];
    else if (n.opset() >= 13)
      flat.push_back(shape[i]);
  }
  if (n.opset() < 13) {
    Dim first(1);
    for (int64_t i = 0; i + int64_t(axes.size()) < x->type().rank(); ++i)
      first = first * shape[i];
    flat = {first, last};
  }
  int64_t axis = n.opset() >= 13 ? axes[0] : 1;
  Value *from = n.opset() >= 13 ? x : b.reshape(x, flat);
  Value *best = b.emit<ArgReduceOp>(from, ArgReduceKind::Max, axis);
  std::vector<Dim> counting(n.opset() >= 13 ? shape.size() : 2, Dim(1));
  counting[size_t(axis)] = last;
  Value *index = b.emit<IotaOp>(counting, axis, DataType::I64);
  Value *hit = b.cast(b.emit<EqualOp>(index, best), x->type().element);
  if (hit)
    n.result(b.reshape(hit, shape));
}

} // namespace dlc
