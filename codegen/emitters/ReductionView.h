// SPDX-License-Identifier: Apache-2.0
// The reductions of a unit as rows and the elements of each, pass by pass.
#pragma once

#include "codegen/BodyPrinter.h"

namespace dlc::codegen {

/// All reductions of a unit run over one space, along the same dimensions.
struct ReductionView {
  /// Dimensions in the order of memory, those of extent 1 left out.
  struct Axes {
    llvm::SmallVector<int64_t, 6> dims;
    Shape box; ///< their extents
  };

  llvm::ArrayRef<Op *> heroes;
  const Value *operand = nullptr;     ///< of the first: has the space's shape
  llvm::SmallVector<bool, 6> reduced; ///< by dimension of the space
  Axes rowAxes, reducedAxes;
  Dim rows, size;       ///< rows, and elements of each
  bool columns = false; ///< neighbours in memory belong to different rows

  /// A reduction that reads the result of another comes in a later pass.
  std::vector<unsigned> passOf; ///< of each hero
  unsigned passes = 0;
  unsigned widest = 0; ///< reductions in one pass

  bool storesElements = false, storesRows = false; ///< some result is such

  /// Element r + lane of a row.
  Coordinates element(const Dim &row, const Dim &r, const Dim &lane) const;
  /// The result of a hero for the row that the element is in.
  Coordinates resultOf(const Op &hero, const Coordinates &element) const;
  /// Has the type one element per row, and not one per element of the space?
  bool isPerRow(const TensorType &type) const;
};

/// A refusal if the unit's heroes are no reductions over one space.
llvm::Expected<ReductionView> viewReduction(const Unit &unit);

} // namespace dlc::codegen
