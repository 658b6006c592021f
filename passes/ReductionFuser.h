// SPDX-License-Identifier: Apache-2.0
// Grows one reduction at a time: what it follows, what follows it, and other
// reductions over the same rows.
#pragma once

#include "passes/FusionPlaces.h"

namespace dlc {

class ReductionFuser {
public:
  ReductionFuser(Graph &graph, PassContext &context)
      : plan(graph), context(context) {}
  bool run(Rewriter &rewriter);

private:
  struct Rows {
    unsigned id;
    FusionPlaces places;
    llvm::SmallVector<Op *, 16> joined;
  };

  bool sameRows(const Rows &rows, const Op &reduce) const;
  bool growOnce(Rows &rows);
  bool joinAfter(Rows &rows, Value *value, Op *user);
  bool joinBefore(Rows &rows, Value *value);
  bool joinSiblings(Rows &rows, Value *value);
  bool joinHero(Rows &rows, Op *reduce);
  bool join(Rows &rows, Op *op, bool asCopy, FusionPlaces::Info info);
  void settle(Rows &rows);

  FusionPlan plan;
  PassContext &context;
  Refusals refusals;
};

} // namespace dlc
