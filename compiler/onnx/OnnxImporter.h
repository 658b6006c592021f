// SPDX-License-Identifier: Apache-2.0
// An ONNX file in, a module out.
#pragma once

#include "compiler/Diagnostics.h"
#include "compiler/onnx/ImportOptions.h"
#include "ir/Graph.h"

namespace dlc {

/// Imports the model at `path`. Every fault of model and options that can be
/// found is added to `diagnostics`, not only the first; the error then says how
/// many there are. External data files are looked for beside the model, and
/// stay mapped as long as the module's constants live.
llvm::Expected<std::unique_ptr<Module>> importOnnx(llvm::StringRef path,
                                                   const ImportOptions &options,
                                                   Diagnostics &diagnostics);

} // namespace dlc
