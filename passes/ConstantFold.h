// SPDX-License-Identifier: Apache-2.0
// Folding of single ops, for the passes that make constants.
#pragma once

#include "passes/Pass.h"

namespace dlc {

/// The constant that `op`, a view of `input`, gives: reshape, transpose, slice,
/// layout_copy, a broadcast of one element. Nothing for other ops or where
/// sizes are not known.
std::optional<Constant> foldView(const Op &op, const Constant &input);

/// Replaces `op` by a constant or by dimensions if its operands determine it.
bool foldOp(Op *op, Rewriter &rewriter, PassContext &context);

/// `input` rounded to another floating-point type, as cast does.
Constant convertConstant(const Constant &input, DataType to);

} // namespace dlc
