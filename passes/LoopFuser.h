// SPDX-License-Identifier: Apache-2.0
// Grows loops from their results upwards.
#pragma once

#include "passes/FusionPlan.h"

namespace dlc {

class LoopFuser {
public:
  LoopFuser(Graph &graph, PassContext &context)
      : plan(graph), context(context) {}
  bool run(Rewriter &rewriter);

private:
  /// At how many different coordinates a value is computed, and whether one of
  /// them is the loop's own.
  struct Coordinates {
    llvm::SmallVector<unsigned, 2> ids;
    bool ownOnly() const { return ids.size() == 1 && ids[0] == 0; }
  };

  Coordinates coordinatesIn(unsigned id, Op *op);
  unsigned coordinate(unsigned of, llvm::StringRef change);
  bool mayJoin(unsigned id, Op *op, bool asCopy, bool asYield);
  bool mergeAround(Op *op, llvm::ArrayRef<unsigned> ids);
  void place(Op *op);
  void settle(unsigned id);

  FusionPlan plan;
  PassContext &context;
  std::map<std::pair<unsigned, std::string>, unsigned> coordinateIds;
  llvm::DenseMap<unsigned, llvm::SmallVector<Op *, 16>> joined;
  llvm::DenseMap<const Op *, llvm::SmallVector<unsigned, 2>> copied;
  Refusals refusals;
};

} // namespace dlc
