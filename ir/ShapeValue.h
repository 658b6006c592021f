// SPDX-License-Identifier: Apache-2.0
// Integer tensors whose elements are known as dimension expressions.
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// The elements of `value` in row-major order, if it is a small integer tensor
/// (at most 4096 elements) that constants, dims and integer arithmetic, views
/// and casts between integer types determine. This is what makes shape
/// subgraphs vanish.
std::optional<std::vector<Dim>> shapeValue(const Value *value);

} // namespace dlc
