// SPDX-License-Identifier: Apache-2.0
// The members of a kernel's parameter struct and where each begins.
#pragma once

#include "runtime/plan/Plan.h"

#include <optional>

namespace dlc::plan {

/// What a patch of this kind fills, for messages.
inline const char *kindName(PatchKind kind) {
  switch (kind) {
  case PatchKind::Pointer:
    return "buffer";
  case PatchKind::Map:
    return "tensor map";
  case PatchKind::Symbol:
    return "symbol";
  case PatchKind::Cell:
    return "cell";
  }
  return "?";
}

/// A slot is a member: maps of 128 bytes, then buffers, cells and symbols of 8.
class ParameterSlots {
public:
  explicit ParameterSlots(const KernelT &kernel)
      : Maps(kernel.maps), Buffers(kernel.buffers), Cells(kernel.cells),
        Symbols(kernel.symbols) {}

  uint64_t count() const { return Maps + Buffers + Cells + Symbols; }
  uint64_t bytes() const { return byte(count()); }
  uint64_t byte(uint64_t slot) const {
    return slot < Maps ? slot * 128 : Maps * 128 + (slot - Maps) * 8;
  }
  /// The slot that begins there, if one does.
  std::optional<uint64_t> at(uint64_t start) const {
    uint64_t slot =
        start < Maps * 128 ? start / 128 : Maps + (start - Maps * 128) / 8;
    if (slot >= count() || byte(slot) != start)
      return std::nullopt;
    return slot;
  }
  PatchKind kind(uint64_t slot) const {
    return slot < Maps                     ? PatchKind::Map
           : slot < Maps + Buffers         ? PatchKind::Pointer
           : slot < Maps + Buffers + Cells ? PatchKind::Cell
                                           : PatchKind::Symbol;
  }

private:
  uint64_t Maps, Buffers, Cells, Symbols;
};

} // namespace dlc::plan
