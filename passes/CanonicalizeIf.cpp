// SPDX-License-Identifier: Apache-2.0
// Branches that are never taken go away.
#include "passes/Canonicalize.h"
#include "passes/CloneOp.h"
#include "passes/Symbols.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

// if(constant) { a } else { b } => a or b
static bool inlineOne(Graph &graph, Module &module) {
  for (Op &op : graph) {
    auto branch = llvm::dyn_cast<IfOp>(&op);
    if (!branch)
      continue;
    std::optional<double> condition = uniformOf(branch.condition());
    if (!condition)
      continue;
    Graph &taken = *condition != 0 ? branch.thenGraph() : branch.elseGraph();
    llvm::SmallVector<Value *, 2> results =
        inlineGraph(taken, branch.inputs(), &op);
    // The `if` had types that both branches satisfy. Symbols that stood for
    // what differs between them are known now.
    DimSubstitution known;
    for (auto [i, value] : llvm::enumerate(results))
      known.learn(op.result(unsigned(i))->type().shape, value->type().shape);
    Rewriter(graph).replace(&op, results);
    substitute(module, known);
    return true;
  }
  return false;
}

bool inlineConstantIfs(Module &module, PassContext &context) {
  bool changed = false;
  bool again = true;
  while (again) {
    again = false;
    forEachGraph(module, [&](Graph &graph) {
      // Regions of what was inlined are visited in the next round.
      if (!again)
        again = inlineOne(graph, module);
    });
    changed |= again;
  }
  return changed;
}

} // namespace dlc
