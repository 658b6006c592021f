// SPDX-License-Identifier: Apache-2.0
// Runs a bundle and the reference on the same inputs and compares.
#pragma once

#include "codegen/StateBinding.h"
#include "compiler/Diagnostics.h"
#include "compiler/onnx/ImportOptions.h"
#include "llvm/Support/raw_ostream.h"

namespace dlc {

struct VerifyOptions {
  ImportOptions import;            ///< shapes and bindings of the model
  std::vector<std::string> inputs; ///< NAME=FILE; others are random
  std::vector<StateBinding>
      states;                  ///< of the bundle; the first run is verified
  std::string device = "auto"; ///< auto, cuda, host
  /// This process has made the bundle: where no GPU is, its code for the host
  /// may be loaded without being asked for by name (docs/security.md).
  bool isOurs = false;
  unsigned seed = 1;
};

/// Prints a line per output; true when all are within the bounds of the
/// variant's precision (compiler/Compare.h) of the f64 reference.
llvm::Expected<bool> verifyBundleAgainstModel(llvm::StringRef modelPath,
                                              llvm::StringRef bundlePath,
                                              const VerifyOptions &options,
                                              Diagnostics &diagnostics,
                                              llvm::raw_ostream &os);

} // namespace dlc
