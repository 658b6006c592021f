// SPDX-License-Identifier: Apache-2.0
// Ops as the simpler ops that they stand for.
#include "ir/Decompose.h"

#include "ir/Builder.h"

namespace dlc {

std::unique_ptr<Graph> decompose(AttentionOp op) {
  auto graph = std::make_unique<Graph>();
  auto input = [&](Value *v) {
    return v ? graph->addInput(v->type(), v->name) : nullptr;
  };
  Value *q = input(op.q()), *k = input(op.k()), *v = input(op.v()),
        *bias = input(op.bias());
  Builder b(*graph);
  b.location = op.location();
  const DataType narrow = q->type().element, wide = computeType(narrow);
  auto to = [&](Value *x, DataType type) {
    return x->type().element == type ? x
                                     : b.create<ConvertOp>(x, type).result();
  };
  Value *s = b.create<MatMulOp>(q, k, false, true, wide).result();
  s = b.create<MulOp>(s, b.scalar(wide, op.scale())).result();
  if (bias)
    s = b.create<AddOp>(s, to(bias, wide)).result();
  const std::vector<int64_t> last{s->type().rank() - 1};
  Value *max = b.create<ReduceOp>(s, ReduceKind::Max, last).result();
  Value *e = b.create<ExpOp>(b.create<SubOp>(s, max).result()).result();
  Value *sum = b.create<ReduceOp>(e, ReduceKind::Sum, last).result();
  Value *w = b.create<DivOp>(e, sum).result();
  if (op.nanRowsZero())
    w = b.create<SelectOp>(b.create<IsNanOp>(w).result(), b.scalar(wide, 0), w)
            .result();
  graph->addOutput(b.create<MatMulOp>(to(w, narrow), v, false, false).result());
  return graph;
}

} // namespace dlc
