// SPDX-License-Identifier: Apache-2.0
// The compiler as a library: a model in, a bundle out.
#pragma once

#include "compiler/Diagnostics.h"
#include "compiler/Options.h"
#include "compiler/PrecisionGain.h"

namespace dlc {

/// One compiled variant's account, for those who ask.
struct VariantSummary {
  std::string target, shapes;
  size_t kernels = 0, launches = 0, cacheHits = 0;
  int64_t weightBytes = 0;
};

struct CompileSummary {
  std::vector<VariantSummary> variants;
  int64_t bundleBytes = 0;
  double importSeconds = 0, passSeconds = 0, lowerSeconds = 0,
         kernelSeconds = 0, writeSeconds = 0;
  /// At the default precision, of the first variant for a GPU.
  std::optional<PrecisionGain> gain;
};

/// Reads an ONNX model, or the text form if the name ends in `.dlc`. All
/// blockers of the model are reported to `diagnostics`.
llvm::Expected<std::unique_ptr<Module>> loadModel(llvm::StringRef path,
                                                  const ImportOptions &options,
                                                  Diagnostics &diagnostics);

/// The targets that `names` stand for. Nothing, or `auto`: the GPU of this
/// machine if there is one, else sm_90a, with `portable` beside it. `host`
/// alone needs no NVRTC.
llvm::Expected<std::vector<Target>>
resolveTargets(llvm::ArrayRef<std::string> names);

/// What `--emit` prints, for the first target and specialisation: the module as
/// imported, after the passes, the sources of the kernels, or the plan.
enum class Emit : uint8_t { Imported, IR, Cuda, Plan };
llvm::Error emit(llvm::StringRef modelPath, Emit what,
                 const CompileOptions &options, Diagnostics &diagnostics,
                 llvm::raw_ostream &os);

/// Compiles `modelPath` and writes `bundlePath` (renamed into place when
/// complete; nothing is left behind on failure).
llvm::Expected<CompileSummary> compile(llvm::StringRef modelPath,
                                       llvm::StringRef bundlePath,
                                       const CompileOptions &options,
                                       Diagnostics &diagnostics);

} // namespace dlc
