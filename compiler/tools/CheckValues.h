// SPDX-License-Identifier: Apache-2.0
// Do two modules compute the same, on random inputs?
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// Runs both on seeded random inputs, `before` in f64 and `after` as typed, and
/// compares their outputs within the bounds of `precision`
/// (compiler/Compare.h). Symbols get small values that their ranges allow. An
/// error names the first output that differs.
llvm::Error checkValues(const Module &before, const Module &after,
                        llvm::StringRef precision, uint64_t seed);

} // namespace dlc
