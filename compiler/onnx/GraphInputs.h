// SPDX-License-Identifier: Apache-2.0
// The inputs of a model: their types, with what the user said about them.
#pragma once

#include "compiler/onnx/ImportOptions.h"
#include "compiler/onnx/Scope.h"

namespace dlc {

/// Adds the model's inputs to the main graph and defines their names in
/// `scope`: a bound input is a constant. Dimensions without a size become
/// symbols, the same for the same name.
void importInputs(const onnx::GraphProto &graph, const ImportOptions &options,
                  Scope &scope);

} // namespace dlc
