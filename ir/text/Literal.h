// SPDX-License-Identifier: Apache-2.0
// Numbers and constants as text, without loss.
#pragma once

#include "ir/Constant.h"
#include "llvm/Support/raw_ostream.h"

namespace dlc {

/// The shortest decimal that reads back as `v`: "0.5", "1.0", "1e-05", "inf",
/// "-inf", "nan".
std::string floatLiteral(double v);
/// The same for a value of f32 or narrower: shortest that rounds to it in f32.
std::string floatLiteralF32(float v);
/// Writes what stands in dense<...>: numbers for up to `literalElements`
/// elements if they read back to the same bytes, one number for a splat, else
/// "0x...".
void printDense(const Constant &c, int64_t literalElements,
                llvm::raw_ostream &os);

} // namespace dlc
