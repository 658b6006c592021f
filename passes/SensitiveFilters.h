// SPDX-License-Identifier: Apache-2.0
// Contractions with constant filters whose rounding to 16 bits costs accuracy
// and gains no time.
#pragma once

#include "ir/Ops.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc {

/// Why the filter of `op` stays f32 while its input is stored narrow; empty if
/// it does not.
llvm::StringRef whyFilterStaysWide(const Op &op);

/// Is `op` depthwise with a filter whose weights cancel, as those of an edge
/// filter do, so that what rounding to `narrow` does to its input shows?
bool magnifiesRounding(const Op &op, DataType narrow);

/// Is there one number for each channel of a sample?
bool isVector(const TensorType &type);

/// Vectors of a sample that a contraction computes and that scale or shift all
/// pixels of a tensor, as in squeeze-and-excitation.
struct Gates {
  llvm::DenseSet<const Op *> ops;    ///< what computes them
  llvm::DenseSet<const Op *> scaled; ///< pointwise ops that apply them
};
Gates findGates(Graph &graph);

} // namespace dlc
