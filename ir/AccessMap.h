// SPDX-License-Identifier: Apache-2.0
// View ops as index arithmetic.
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// One condition `lower <= value < upper` on an index expression.
struct IndexRange {
  Dim value, lower, upper;
};

/// Where a result element of a view op comes from: operand `operand` at
/// `index` if all `valid` hold; otherwise the next access of the list, and
/// after the last one the fill value. Index expressions are over the symbols
/// that the caller chose for the result's coordinates. This is how pads, window
/// edges and joins are said.
struct Access {
  unsigned operand;
  Shape index;
  llvm::SmallVector<IndexRange, 2> valid; ///< empty: always
};
struct AccessMap {
  llvm::SmallVector<Access, 1> accesses;
  /// Fill value operand (pad's value) or zero when none and it can be invalid.
  Value *fill = nullptr;
};

/// The map of a View op, at result coordinates `index` (one per dimension).
/// Coordinates lie in the result's shape, which simplifies division and mod.
/// Layouts play no part: coordinates are logical.
AccessMap accessMap(const Op &view, llvm::ArrayRef<Dim> index);

/// Coordinates in `to` of the element with coordinates `index` in `from` when
/// both shapes list the same elements in row-major order (reshape).
Shape reindex(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to,
              llvm::ArrayRef<Dim> index);

/// Operand coordinates of a pointwise op that broadcasts `shape` to the result.
Shape broadcastIndex(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<Dim> index);

} // namespace dlc
