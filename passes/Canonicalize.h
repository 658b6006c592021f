// SPDX-License-Identifier: Apache-2.0
// The parts of Canonicalize, one per family of ops. Each applies the rules of
// one op and returns whether it changed something.
#pragma once

#include "passes/Pass.h"

namespace dlc {

bool canonicalizePointwise(Op *op, Rewriter &rewriter, PassContext &context);
bool canonicalizeCast(Op *op, Rewriter &rewriter, PassContext &context);
bool canonicalizeView(Op *op, Rewriter &rewriter, PassContext &context);
bool canonicalizeJoin(Op *op, Rewriter &rewriter, PassContext &context);
bool canonicalizeLinear(Op *op, Rewriter &rewriter, PassContext &context);
bool canonicalizeIndex(Op *op, Rewriter &rewriter, PassContext &context);
/// Replaces `if` ops whose condition is constant by the branch taken.
bool inlineConstantIfs(Module &module, PassContext &context);

/// Replaces the only result of `op` by `value`, unless their types differ.
bool replaceIfSameType(Op *op, Value *value, Rewriter &rewriter);

} // namespace dlc
