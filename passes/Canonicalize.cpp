// SPDX-License-Identifier: Apache-2.0
// Applies the local rules of every family until nothing changes.
#include "passes/Canonicalize.h"

#include "passes/Values.h"

namespace dlc {

bool replaceIfSameType(Op *op, Value *value, Rewriter &rewriter) {
  if (value->type() != op->result()->type()) {
    Op *made = value->definingOp();
    if (made && made->isUnused() && made->hasTrait(OpTrait::Pure))
      rewriter.erase(made);
    return false;
  }
  if (value->definingOp() && value->name.empty())
    value->name = op->result()->name;
  rewriter.replace(op, value);
  return true;
}

llvm::Expected<bool> runCanonicalize(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    rewriter.greedily([&](Op *op, Rewriter &rewriter) {
      return canonicalizePointwise(op, rewriter, context) ||
             canonicalizeView(op, rewriter, context) ||
             canonicalizeJoin(op, rewriter, context) ||
             canonicalizeLinear(op, rewriter, context) ||
             canonicalizeIndex(op, rewriter, context);
    });
    changed |= rewriter.changed();
  });
  return changed | inlineConstantIfs(module, context);
}

} // namespace dlc
