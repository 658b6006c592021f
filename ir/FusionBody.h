// SPDX-License-Identifier: Apache-2.0
// The parts of a fusion, derived from its body.
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// prologues[i][j]: ops between the body's inputs and operand j of hero i that
/// belong to no earlier hero; epilogue: ops that depend on a hero and reach a
/// yielded value (for several heroes, also what lies between them is in the
/// next hero's prologue). Ops in body order.
struct FusionParts {
  llvm::SmallVector<Op *, 2> heroes;
  llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<Op *, 4>, 2>, 2>
      prologues;
  llvm::SmallVector<Op *, 8> epilogue;
};
FusionParts fusionParts(const FusionOp &fusion);

/// The grammar of a fusion (docs/ir.md): kinds of heroes per kind, spaces, no
/// nesting, one region input per operand with its type.
llvm::Error verifyFusion(const FusionOp &fusion);

/// Space and reduced dimensions of the heroes, as verifyFusion expects them.
struct IterationSpace {
  Shape space, reduce;
};
IterationSpace iterationSpace(FusionKind kind, llvm::ArrayRef<Op *> heroes,
                              llvm::ArrayRef<Value *> yields);

} // namespace dlc
