// SPDX-License-Identifier: Apache-2.0
// Lists of passes by name.
#pragma once

#include "passes/PassManager.h"

namespace dlc {

/// `simplify`: what an importer's output needs before anything else.
/// `default`: simplify, then everything up to a module of fusions.
/// An error names the pipelines that exist.
llvm::Error addPipeline(PassManager &manager, llvm::StringRef name);

} // namespace dlc
