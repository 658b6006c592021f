// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions as D[b][m][n] = sum over k of A * B.
#pragma once

#include "codegen/OperandPrinter.h"
#include "codegen/SpaceMap.h"

namespace dlc::codegen {

/// How a hero's result and operands follow from (b, m, n, k).
struct ContractionView {
  Dim batch = 1, m = 1, n = 1, k = 1;
  const Value *a = nullptr, *b = nullptr;
  using Place = OperandPrinter::Place;
  /// Of A and B, at the given coordinates; `lane` is added along k, in B
  /// (onN) along n.
  std::function<Place(const Dim &batch, const Dim &m, const Dim &k,
                      const Dim &lane)>
      placeA;
  std::function<Place(const Dim &batch, const Dim &n, const Dim &k,
                      const Dim &lane, bool onN)>
      placeB;
  /// Element of the hero's result.
  std::function<Coordinates(const Dim &batch, const Dim &m, const Dim &n)>
      result;
  Dim runA = 1; ///< elements along k that A keeps together
};

/// The view of a matmul, conv or conv_transpose.
ContractionView viewContraction(const Op &hero);

/// The coordinates of `linear` in a row-major box.
Shape delinearize(const Dim &linear, llvm::ArrayRef<Dim> box);

} // namespace dlc::codegen
