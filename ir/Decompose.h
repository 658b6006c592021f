// SPDX-License-Identifier: Apache-2.0
// Ops as the simpler ops that they stand for.
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// The op as a graph of matmuls, reductions and pointwise ops, with an input
/// for each operand that is there and one output. Scores are in f32 at least.
std::unique_ptr<Graph> decompose(AttentionOp op);

} // namespace dlc
