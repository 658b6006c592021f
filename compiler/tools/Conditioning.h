// SPDX-License-Identifier: Apache-2.0
// How far a model itself is moved by what a narrow type cannot tell apart.
#pragma once

#include "ir/Graph.h"
#include "ir/reference/Evaluator.h"

#include <optional>

namespace dlc {

/// Each float of `inputs` moved by one step of "fp16", "bf16" or "tf32", up or
/// down at random; nothing for other precisions.
std::optional<std::vector<reference::Tensor>>
movedInputs(llvm::ArrayRef<reference::Tensor> inputs, llvm::StringRef precision,
            uint64_t seed);

/// A sentence where the reference, on `moved` rather than on the inputs that
/// gave `expected`, leaves the bound of the precision in one of the first
/// `outputs` results; empty where it does not.
llvm::Expected<std::string>
whyIllConditioned(Graph &graph, std::vector<reference::Tensor> moved,
                  llvm::ArrayRef<reference::Tensor> expected, size_t outputs,
                  llvm::StringRef precision);

} // namespace dlc
