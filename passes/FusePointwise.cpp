// SPDX-License-Identifier: Apache-2.0
// Makes maximal loops of pointwise, view, gather and iota ops over one space:
//   relu(transpose(x) + y) * z  =>  fusion loop{transpose, add, relu, mul}
// A producer joins when all that read it are in the loop, when it is index
// arithmetic that may be repeated, or when the loop can yield it beside its own
// result.
#include "passes/LoopFuser.h"

namespace dlc {

llvm::Expected<bool> runFusePointwise(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    changed |= LoopFuser(graph, context).run(rewriter);
  });
  return changed;
}

} // namespace dlc
