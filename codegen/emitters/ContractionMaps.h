// SPDX-License-Identifier: Apache-2.0
// Operands of a contraction as tensor maps, where they lie as
// contraction_tma.cuh wants them.
#pragma once

#include "codegen/Contraction.h"

namespace dlc::codegen {

/// Both operands; boxes and pixels are the tiling's, see setTile.
struct MappedOperands {
  TensorMapRef a, b;
  /// Names of dlc::dev::Source.
  std::string sourceA, sourceB;
  /// Source::Window: the members of dlc::dev::Window in order.
  std::vector<Dim> window;
  int64_t taps = 1; ///< of the filter, for Source::Window

  void setTile(int bm, int bn);
};

/// Nothing where an operand is computed, padded by another op, or not in rows
/// of k at addresses that are multiples of 16 bytes.
std::optional<MappedOperands> mapOperands(KernelBuilder &kernel, const Op &hero,
                                          const ContractionView &view);

} // namespace dlc::codegen
