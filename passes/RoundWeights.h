// SPDX-License-Identifier: Apache-2.0
// Constant weights of contractions in 16 bits.
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// `weights`, operand 1 of `op`, in f16 or bf16: each element is one of the two
/// neighbours of its value, in general the nearer one, chosen so that the
/// errors of what one result adds up cancel; it is off by at most 3/4 of a
/// step. Then the part that activations have in common, which is much of them
/// after a ReLU, sees no error at all. bf16 below 2^-119 is the nearest.
/// Sums do not depend on each other, so threads share the work. Null where `op`
/// is no contraction of f32 weights in row-major order.
std::optional<Constant> roundedWeights(const Op &op, const Constant &weights,
                                       DataType narrow);

} // namespace dlc
