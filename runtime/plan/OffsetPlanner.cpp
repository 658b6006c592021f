// SPDX-License-Identifier: Apache-2.0
// Offsets of buffers in one arena, from their sizes and lifetimes.
#include "runtime/plan/OffsetPlanner.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

using namespace dlc::plan;

static uint64_t alignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

std::optional<Placement>
dlc::plan::planOffsets(std::span<const Lifetime> buffers) {
  // With the whole sum in range no offset below can overflow.
  uint64_t sum = 0;
  for (const Lifetime &buffer : buffers) {
    if (!std::has_single_bit(buffer.alignment) ||
        buffer.bytes > uint64_t(INT64_MAX) - buffer.alignment - sum)
      return std::nullopt;
    sum += buffer.bytes + buffer.alignment;
    if (sum > uint64_t(INT64_MAX) / 2)
      return std::nullopt;
  }

  std::vector<uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return buffers[a].bytes > buffers[b].bytes;
  });

  Placement placement;
  placement.offsets.assign(buffers.size(), 0);
  std::vector<uint32_t> placed; // sorted by offset
  for (uint32_t index : order) {
    const Lifetime &buffer = buffers[index];
    if (buffer.bytes == 0)
      continue;
    uint64_t end = 0, best = 0, bestGap = UINT64_MAX;
    for (uint32_t other : placed) {
      const Lifetime &neighbour = buffers[other];
      if (neighbour.last < buffer.first || buffer.last < neighbour.first)
        continue;
      uint64_t start = alignUp(end, buffer.alignment);
      uint64_t offset = placement.offsets[other];
      if (start < offset && offset - start >= buffer.bytes &&
          offset - start < bestGap) {
        best = start;
        bestGap = offset - start;
      }
      end = std::max(end, offset + neighbour.bytes);
    }
    uint64_t offset =
        bestGap == UINT64_MAX ? alignUp(end, buffer.alignment) : best;
    placement.offsets[index] = offset;
    placement.bytes = std::max(placement.bytes, offset + buffer.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](uint64_t value, uint32_t other) {
                                     return value < placement.offsets[other];
                                   }),
                  index);
  }
  return placement;
}
