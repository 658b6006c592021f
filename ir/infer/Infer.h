// SPDX-License-Identifier: Apache-2.0
// The result types of ops: one function per rule that a record names.
#pragma once

#include "ir/Ops.h"

namespace dlc {

using ResultTypes = llvm::SmallVector<TensorType, 1>;
using InferResult = llvm::Expected<ResultTypes>;

#define DLC_OP_INFER_DECLARATIONS
#include "ir/Ops.inc"

} // namespace dlc
