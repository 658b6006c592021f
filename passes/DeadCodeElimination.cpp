// SPDX-License-Identifier: Apache-2.0
// Erases ops that no output needs. The manager does the same after every pass
// that changed something; as a pass it is for dlc-opt.
#include "passes/Pass.h"

namespace dlc {

llvm::Expected<bool> runDeadCodeElimination(Module &module,
                                            PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    rewriter.eraseDeadOps();
    changed |= rewriter.changed();
  });
  return changed;
}

} // namespace dlc
