// SPDX-License-Identifier: Apache-2.0
// The order of passes, with the reason for each place.
#include "passes/Pipelines.h"

namespace dlc {

static llvm::Error addSimplify(PassManager &manager) {
  // One enables the other: folding makes conditions and shapes constant,
  // algebra then drops branches and views, merging leaves new constants side by
  // side.
  return manager.addUntilStable({"canonicalize", "constant-fold",
                                 "common-subexpression-elimination",
                                 "dead-code-elimination"});
}

static llvm::Error addDefault(PassManager &manager) {
  if (llvm::Error error = addSimplify(manager))
    return error;
  // Before precision: scaled weights are rounded once, and the check that they
  // stay finite sees their final values.
  if (llvm::Error error = manager.add("fold-normalization"))
    return error;
  // Before layouts: which layout a contraction wants depends on its type.
  if (llvm::Error error = manager.add("lower-precision"))
    return error;
  // How many channels are copied at once depends on their type.
  if (llvm::Error error = manager.add("pad-channels"))
    return error;
  // Weights of equal type side by side; before layouts, which they share.
  if (llvm::Error error = manager.add("fuse-horizontal"))
    return error;
  // Converts, joins and pads of weights fold, pairs of converts cancel.
  if (llvm::Error error = addSimplify(manager))
    return error;
  // After precision, which decides what a kernel would read, and with converts
  // and views simplified; before layouts, which are for the products that stay.
  if (llvm::Error error = manager.add("form-attention"))
    return error;
  // Before fusing: a copy that no neighbour cancels is absorbed as a view.
  if (llvm::Error error = manager.add("assign-layouts"))
    return error;
  // Copies of weights fold.
  if (llvm::Error error = addSimplify(manager))
    return error;
  // Contractions choose their neighbours first: what they absorb costs nothing,
  // while a reduction or loop reads and writes memory for it.
  if (llvm::Error error = manager.add("fuse-vertical"))
    return error;
  // Before loops: a reduction needs its pointwise neighbours to be one kernel.
  if (llvm::Error error = manager.add("fuse-reduction"))
    return error;
  if (llvm::Error error = manager.add("fuse-pointwise"))
    return error;
  // What is left stands alone.
  if (llvm::Error error = manager.add("wrap-remaining"))
    return error;
  // Last: kernels are what is placed, and a join that one of them computes as
  // it reads costs nothing.
  return manager.add("elide-concat");
}

llvm::Error addPipeline(PassManager &manager, llvm::StringRef name) {
  if (name == "simplify")
    return addSimplify(manager);
  if (name == "default")
    return addDefault(manager);
  return llvm::createStringError(
      "no pipeline is named '%s'; the pipelines are simplify, default",
      name.str().c_str());
}

} // namespace dlc
