// SPDX-License-Identifier: Apache-2.0
// What positions in memory are computed from.
#pragma once

#include "ir/Ops.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc {

/// Ops whose f32 result only goes to a conversion to indices, or to the boxes
/// of a non-maximum suppression, through arithmetic and ops that move values:
/// in 16 bits a position would be off by a part of a pixel, and more in a large
/// image.
struct Coordinates {
  llvm::DenseSet<const Op *> ops;
  /// Contractions that the ops begin with. Their operands may be rounded: what
  /// they add up does not have to be a position.
  llvm::DenseSet<const Op *> sources;
};
Coordinates findCoordinates(Graph &graph);

} // namespace dlc
