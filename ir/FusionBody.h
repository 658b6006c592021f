// SPDX-License-Identifier: Apache-2.0
// The parts of a fusion, derived from its body.
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// The ops of a body by what they are for. Ops in body order.
struct FusionParts {
  using Ops = llvm::SmallVector<Op *, 4>;
  llvm::SmallVector<Op *, 2> heroes;
  /// [i][j]: ops between the body's inputs and operand j of hero i that belong
  /// to no earlier hero (what lies between two heroes is in the prologue of the
  /// second). A value of a prologue may be used in a later part too.
  llvm::SmallVector<llvm::SmallVector<Ops, 2>, 2> prologues;
  /// What else the results need; everything where there are no heroes.
  llvm::SmallVector<Op *, 8> epilogue;
  /// In no part: no result needs them, heroes and prologues included.
  Ops unused;

  /// What the parts hold beside constants, for people: `prologue of operand 0:
  /// cast; epilogue: add, relu`. Empty if there is nothing, or no hero.
  std::string str() const;
};
/// The one derivation of prologue and epilogue. The heroes are ops of the body,
/// in its order.
FusionParts fusionParts(const Graph &body, llvm::ArrayRef<Op *> heroes);
FusionParts fusionParts(const FusionOp &fusion);

/// The grammar of a fusion (docs/ir.md): kinds of heroes per kind, spaces, no
/// nesting, one region input per operand with its type.
llvm::Error verifyFusion(const FusionOp &fusion);

/// Space and reduced dimensions, as verifyFusion expects them:
///   loop         shape of the first yield; nothing
///   reduction    dimensions of the first hero's input that it keeps; the
///                others
///   contraction  the hero's result; K, or channels per group and kernel
///   window       the hero's result; the window
///   attention    the hero's result; the keys
///   recurrence   the hero's first result; hidden size
///   group        nothing; nothing
struct IterationSpace {
  Shape space, reduce;
};
IterationSpace iterationSpace(FusionKind kind, llvm::ArrayRef<Op *> heroes,
                              llvm::ArrayRef<Value *> yields);

/// The join of inputs, or of slices of them, that a loop does and nothing else;
/// null where it does more, or no join.
ConcatOp soleConcat(const FusionOp &fusion);

/// matmul, conv or conv_transpose.
bool isContraction(const Op &op);
/// Position of the attribute of a contraction that lets it round its operands.
unsigned tf32AttrOf(const Op &contraction);
/// The kind of fusion that the op makes by itself, as its hero.
std::optional<FusionKind> heroKind(const Op &op);
/// May the op stand in a body besides heroes? Such an op is computed element by
/// element, at an index.
bool isElementwise(const Op &op);

} // namespace dlc
