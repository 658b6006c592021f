// SPDX-License-Identifier: Apache-2.0
// What a user may say about a model's inputs before it is imported.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dlc {

/// One dimension of `--shape`: a number, a range, or a name.
struct DimSpec {
  int64_t lower = 1;
  std::optional<int64_t> upper; ///< equal to lower: a fixed size
  std::string symbol;           ///< empty: the model's own name for it
  bool isFixed() const { return upper && *upper == lower; }
};

/// A symbol that nobody bounded is at least 1: models are not made for empty
/// inputs. `--shape x=0..8x3` says otherwise.
struct ImportOptions {
  /// Inputs that become constants: name to numbers (`16000`, `1,2,3`).
  std::map<std::string, std::string> bindings;
  /// Shapes of inputs, overriding those of the model.
  std::map<std::string, std::vector<DimSpec>> shapes;
  /// Inputs that stay inputs although the model has a value for them.
  std::set<std::string> kept;

  bool isEmpty() const {
    return bindings.empty() && shapes.empty() && kept.empty();
  }
  /// Adds `NAME=VALUE` to the bindings.
  llvm::Error addBinding(llvm::StringRef text);
  /// Adds `NAME=1x3x48x320` to the shapes. A dimension is a number, a range
  /// `1..8` (`1..` has no upper bound), or a name. `NAME=` alone is rank 0.
  llvm::Error addShape(llvm::StringRef text);
};

} // namespace dlc
