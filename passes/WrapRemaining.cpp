// SPDX-License-Identifier: Apache-2.0
// Makes every compute op that is left a fusion of its own, so that what follows
// sees fusions, index ops, control flow and sources only.
#include "passes/FusionPlan.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

static std::optional<FusionKind> kindOf(const Op &op) {
  switch (op.kind()) {
  case OpKind::Gather:
  case OpKind::GatherElements:
  case OpKind::GatherNd:
  case OpKind::Iota:
    return FusionKind::Loop;
  case OpKind::Dims:
    // Sizes that a kernel or a user reads; control flow knows them by itself.
    if (op.result()->isOutput() ||
        llvm::any_of(op.result()->uses(), [](const Use &use) {
          return use.op->kind() != OpKind::If && use.op->kind() != OpKind::Loop;
        }))
      return FusionKind::Loop;
    return std::nullopt;
  default:
    if (op.hasTrait(OpTrait::Pointwise) || op.hasTrait(OpTrait::View))
      return FusionKind::Loop;
    return heroKind(op);
  }
}

llvm::Expected<bool> runWrapRemaining(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    FusionPlan plan(graph);
    for (Op *op : plan.ops()) {
      std::optional<FusionKind> kind = kindOf(*op);
      if (!kind || op->isUnused())
        continue;
      unsigned id = plan.create(*kind, op);
      if (*kind != FusionKind::Loop)
        plan.cluster(id).heroes.push_back(op);
      // Refused alone, it stays: codegen says that it has no kernel.
      if (llvm::Expected<double> price = plan.price(id, context); !price) {
        context.decline(*op, llvm::toString(price.takeError()));
        plan.cluster(id).abandoned = true;
      }
    }
    Rewriter rewriter(graph);
    changed |= plan.materialize(rewriter);
  });
  return changed;
}

} // namespace dlc
