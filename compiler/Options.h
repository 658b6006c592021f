// SPDX-License-Identifier: Apache-2.0
// Every option of a compilation, as one plain struct, and the parsers of the
// texts in which a user gives them.
#pragma once

#include "ir/Dim.h"
#include "ir/Symbol.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace dlc {

enum class Precision : uint8_t { AsTyped, Tf32, F16, BF16 };
llvm::StringRef stringify(Precision p);
llvm::Expected<Precision> parsePrecision(llvm::StringRef text);

/// What `--shape` says of one dimension of an input.
struct DimSpec {
  int64_t lower = 1, upper = 1; ///< equal: a fixed size
  std::string symbol;           ///< not empty: symbolic, named
};

/// `--shape NAME=1..8x3x48x320`.
struct ShapeSpec {
  std::string input;
  std::vector<DimSpec> dims;
  static llvm::Expected<ShapeSpec> parse(llvm::StringRef text);
};

/// `--bind NAME=VALUE`: an input that becomes a constant.
struct BindSpec {
  std::string input;
  std::vector<double> values; ///< one, or as many as the input has elements
  static llvm::Expected<BindSpec> parse(llvm::StringRef text);
};

struct CompileOptions {
  /// Names of targets; empty: decided by Compiler (design of `--target`).
  std::vector<std::string> targets;
  Precision precision = Precision::AsTyped;
  /// Each entry is one specialisation (a variant per target): the shapes given
  /// together. Empty: one, with the model's own shapes.
  std::vector<std::vector<ShapeSpec>> shapes;
  std::vector<BindSpec> binds;
  std::vector<std::string> disabledPasses;
  std::string explainPass;
  std::string cacheDir;   ///< empty: no cache
  std::string nvrtcPath;  ///< empty: searched in the usual places
  std::string cudaInclude; ///< headers of CUDA, where they are needed
  std::string hostCompiler; ///< empty: c++ or g++ of PATH
  unsigned jobs = 0;      ///< 0: as many as the machine has cores
  bool keepSources = true;
  /// Called with a phase and a fraction in [0, 1]; false cancels.
  std::function<bool(llvm::StringRef phase, double fraction)> progress;
};

/// Groups `--shape` options: a second shape for an input that already has one
/// begins the next specialisation.
std::vector<std::vector<ShapeSpec>> groupSpecialisations(std::vector<ShapeSpec> specs);

} // namespace dlc
