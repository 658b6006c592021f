// SPDX-License-Identifier: Apache-2.0
// Offsets of buffers in one arena, from their sizes and lifetimes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlc::plan {

/// A buffer that is live at the positions first ... last, both included.
struct Lifetime {
  uint64_t bytes = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t alignment = 256; ///< a power of two
};

struct Placement {
  std::vector<uint64_t> offsets; ///< one for each buffer, in bytes
  uint64_t bytes = 0;            ///< of the whole arena
};

/// Places buffers so that two that are live at the same position never share a
/// byte. Largest first, each into the smallest gap that holds it among those
/// it overlaps in time, else behind them. A pure function: the same buffers
/// give the same offsets on every machine. Nothing when the sum of all sizes
/// does not fit in 63 bits or an alignment is no power of two.
std::optional<Placement> planOffsets(std::span<const Lifetime> buffers);

} // namespace dlc::plan
