// SPDX-License-Identifier: Apache-2.0
// Tensors in NumPy's .npy files.
#pragma once

#include "ir/reference/Evaluator.h"

namespace dlc {

/// Reads an array of numbers, little endian, in C or Fortran order. .npy has no
/// names for bf16, f8 and 4-bit types: NumPy stores their elements as bytes
/// (`|V2`, `|V1`), which are taken for `expected`. A type other than `expected`
/// is no error here.
llvm::Expected<reference::Tensor>
readNpy(llvm::StringRef path, std::optional<DataType> expected = std::nullopt);

/// Writes a row-major array; narrow types as bytes, 4-bit ones unpacked.
llvm::Error writeNpy(llvm::StringRef path, const reference::Tensor &tensor);

/// Where an output goes in a folder: its name, characters other than letters
/// and digits as `_`, and `.npy`.
std::string npyPath(llvm::StringRef folder, llvm::StringRef name);

} // namespace dlc
