// SPDX-License-Identifier: Apache-2.0
// Limits of a plan that the compiler has to keep, too.
#pragma once

#include <cstddef>

namespace dlc::plan {

/// Dimensions of an input or output at most: DLC_MAX_RANK of dlc/runtime.h.
inline constexpr size_t kMaxRank = 16;

} // namespace dlc::plan
