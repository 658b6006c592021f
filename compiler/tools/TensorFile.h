// SPDX-License-Identifier: Apache-2.0
// Tensors in files, by the reader and the writer of the runtime's tools.
#pragma once

#include "dlc/runtime.h"
#include "ir/reference/Evaluator.h"

namespace dlc {

/// The runtime's number for a type.
dlc_type runtimeType(DataType type);

/// Reads what dlc-run reads: .npy, .pb, an array of an .npz. What such files
/// have no name for comes as plain numbers and is taken for `expected`
/// (runtime/tools/Array.h). Another type than `expected` is no error here.
llvm::Expected<reference::Tensor> readTensor(llvm::StringRef path,
                                             DataType expected);

/// Writes an .npy as dlc-run does.
llvm::Error writeNpy(llvm::StringRef path, const reference::Tensor &tensor);

/// Where an output goes in a folder: its name, characters other than letters
/// and digits as `_`, and `.npy`.
std::string npyPath(llvm::StringRef folder, llvm::StringRef name);

} // namespace dlc
