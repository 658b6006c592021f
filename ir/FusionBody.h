// SPDX-License-Identifier: Apache-2.0
// The parts of a fusion, derived from its body.
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// prologues[i][j]: ops between the body's inputs and operand j of hero i that
/// belong to no earlier hero (what lies between two heroes is in the prologue
/// of the second); epilogue: all other ops. A value of a prologue may be used
/// in a later part too. Without heroes everything is epilogue. Ops in body
/// order.
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

/// Space and reduced dimensions, as verifyFusion expects them:
///   loop         shape of the first yield; nothing
///   reduction    dimensions of the first hero's input that it keeps; the
///   others contraction  the hero's result; K, or channels per group and kernel
///   window       the hero's result; the window
///   attention    as contraction, of the last hero
///   recurrence   the hero's first result; hidden size
///   group        nothing; nothing
struct IterationSpace {
  Shape space, reduce;
};
IterationSpace iterationSpace(FusionKind kind, llvm::ArrayRef<Op *> heroes,
                              llvm::ArrayRef<Value *> yields);

/// matmul, conv or conv_transpose.
bool isContraction(const Op &op);
/// The kind of fusion that the op makes by itself, as its hero.
std::optional<FusionKind> heroKind(const Op &op);
/// May the op stand in a body besides heroes? Such an op is computed element by
/// element, at an index.
bool isElementwise(const Op &op);

} // namespace dlc
