// SPDX-License-Identifier: Apache-2.0
// Makes reductions over the same rows, and what surrounds them, one kernel:
//   m = max(x); e = exp(x - m); e / sum(e)
//     =>  fusion reduction{max, sub, exp, sum, div}, heroes max and sum
// Before the reductions: pointwise ops, views and gathers. After them:
// pointwise ops over the rows or the whole space, and views that keep every
// element once.
#include "passes/ReductionFuser.h"

namespace dlc {

llvm::Expected<bool> runFuseReduction(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    changed |= ReductionFuser(graph, context).run(rewriter);
  });
  return changed;
}

} // namespace dlc
