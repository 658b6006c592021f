// SPDX-License-Identifier: Apache-2.0
// Copies of ops with other operands.
#pragma once

#include "ir/Ops.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc {

using ValueMap = llvm::DenseMap<const Value *, Value *>;

/// A detached copy of `op`, regions included, whose operands are looked up in
/// `map` (those not found stay); its results are entered there.
Op *cloneOp(const Op &op, ValueMap &map);

/// Copies the ops of `body` before `place`, its inputs taken for `inputs`.
/// Returns what the outputs have become.
llvm::SmallVector<Value *, 2>
inlineGraph(const Graph &body, llvm::ArrayRef<Value *> inputs, Op *place);

} // namespace dlc
