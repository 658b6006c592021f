// SPDX-License-Identifier: Apache-2.0
// Every option of a compilation, as one plain struct.
#pragma once

#include "codegen/StateBinding.h"
#include "compiler/onnx/ImportOptions.h"
#include "passes/Pass.h"
#include <functional>
#include <string>
#include <vector>

namespace dlc {

struct CompileOptions {
  /// Names of targets; empty: decided by resolveTargets.
  std::vector<std::string> targets;
  PrecisionMode precision = PrecisionMode::AsTyped;
  /// What the user said of the inputs. Several entries are specialisations: a
  /// variant per target for each, sharing weights.
  std::vector<ImportOptions> specialisations = {{}};
  /// Inputs and outputs that the session keeps for itself.
  std::vector<StateBinding> states;
  std::vector<std::string> disabledPasses;
  std::string explainPass;   ///< its refusals become notes
  std::string cacheDir;      ///< empty: no cache
  std::string nvrtcPath;     ///< folder of libnvrtc; empty: the usual places
  std::string hostCompiler;  ///< empty: c++ of the PATH
  std::string reproducerDir; ///< for what shows a fault of ours; empty: none
  unsigned jobs = 0;         ///< 0: as many as the machine has cores
  /// Told of each phase with a fraction in [0, 1]; false cancels.
  std::function<bool(llvm::StringRef phase, double fraction)> progress;
};

/// The specialisations that `--shape` texts (NAME=1x3x48x320) stand for: a
/// second shape for an input that already has one begins the next. `--bind`
/// texts and names of `--keep-input` go to all of them.
llvm::Expected<std::vector<ImportOptions>>
specialisations(llvm::ArrayRef<std::string> shapes,
                llvm::ArrayRef<std::string> bindings,
                llvm::ArrayRef<std::string> kept = {});

/// The states that `--state` texts (INPUT=OUTPUT) stand for.
llvm::Expected<std::vector<StateBinding>>
parseStates(llvm::ArrayRef<std::string> texts);

} // namespace dlc
