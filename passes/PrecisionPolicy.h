// SPDX-License-Identifier: Apache-2.0
// Which ops of a graph stay in f32 when precision is lowered.
#pragma once

#include "passes/Coordinates.h"
#include "passes/Pass.h"
#include "passes/SensitiveFilters.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc {

/// Statistics, exponentials and what lies between them stay wide, contractions
/// and what follows them become narrow. Biases and scales stay wide.
class PrecisionPolicy {
public:
  PrecisionPolicy(Graph &graph, DataType narrow, PassContext &context);

  bool isWide(const Op *op) const {
    return wide.contains(op) || alone.contains(op);
  }
  /// Is the value, computed wide, stored in the narrow type because a
  /// contraction or window reads it? Others then read what is stored.
  bool isStoredNarrow(const Value *value) const {
    return storedNarrow.contains(value);
  }

  /// Does it compute positions, which read what is f32 also where others store
  /// it narrow?
  bool isPosition(const Op *op) const { return coordinates.ops.contains(op); }
  /// Is the result of a contraction f32, though its operands become narrow?
  bool keepsResult(const Op *op) const {
    return coordinates.sources.contains(op);
  }

private:
  bool mustBeWide(Op *op);
  bool followsWide(const Op &op) const;
  bool feedsWide(const Op &op) const;
  bool isWideEdge(const Value *value) const;

  DataType narrow;
  PassContext &context;
  llvm::DenseSet<const Op *> wide;
  // Computed in f32 for a parameter's sake; neighbours do not follow.
  llvm::DenseSet<const Op *> alone;
  Gates gates;
  Coordinates coordinates;
  // As it was before anything changed.
  llvm::DenseSet<const Value *> storedNarrow;
};

/// An op that this pass changes: one that reads or makes f32 values.
bool touchesF32(const Op &op);

} // namespace dlc
