// SPDX-License-Identifier: Apache-2.0
// Products of 16-bit values with f32 weights, on tensor cores: each weight is
// the sum of two 16-bit numbers, and the sum over k runs over both.
#pragma once

#include "codegen/Contraction.h"
#include "codegen/Unit.h"
#include "ir/Target.h"

namespace dlc::codegen {

struct SplitWeights {
  DataType element = DataType::F16; ///< of A and of the parts
  const Value *a = nullptr;         ///< A before it was widened
  Dim depth;                        ///< k of the product that is asked for
  Constant parts;                   ///< [n][2 depth]
};

/// `value` of 16 bits, of which this one is a copy in f32; or null.
const Value *widenedFrom(const Value *value);
/// The constant that the unit is given as `value` of its body; or null.
const Constant *constantGiven(const Value *value, const Unit &unit);
/// Do two parts of this type hold every weight?
bool holdsParts(const Constant &weights, DataType narrow);

/// Nothing where A is not widened from 16 bits by dlc itself, where B is not
/// constant, where two 16-bit parts would not hold it to 16 bits of its largest
/// value, or without tensor cores.
std::optional<SplitWeights> splitWeights(const Op &hero,
                                         const ContractionView &view,
                                         const Unit &unit,
                                         const Target &target);

} // namespace dlc::codegen
