// SPDX-License-Identifier: Apache-2.0
// Puts what surrounds a contraction or window into its kernel:
//   relu(conv(x, w) + b + y)   =>  fusion{conv, add, add, relu}
//   transpose(reshape(x @ w))  =>  fusion{matmul, reshape, transpose}
//   convert(x) @ transpose(w)  =>  fusion{convert, transpose, matmul}
// Epilogue: any pointwise op of the hero's shape, and views that keep every
// element once. Prologue: views of a matmul's operands, and pointwise ops where
// the price of one kernel is below that of two.
#include "passes/VerticalFuser.h"

namespace dlc {

llvm::Expected<bool> runFuseVertical(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    changed |= VerticalFuser(graph, context).run(rewriter);
  });
  return changed;
}

} // namespace dlc
