// SPDX-License-Identifier: Apache-2.0
// Which ONNX operators are imported, from which opset on, and by which
// function.
#pragma once

#include "compiler/onnx/NodeBuilder.h"

namespace dlc {

using ImportFunction = void (*)(NodeReader &, NodeBuilder &);

/// An operator as it is from opset `since` on, up to the next entry of its
/// name.
struct Operator {
  llvm::StringRef domain, name;
  int64_t since;
  ImportFunction import; ///< null: no longer part of the opset
  unsigned fewestInputs, mostInputs;
  bool takesSequences() const {
    return name.contains("Sequence") || name == "Identity";
  }
  llvm::StringRef instead; ///< of an operator that has gone: what to use
};

/// The newest opset of ai.onnx whose operators are known, and the oldest.
constexpr int64_t kOldestOpset = 7, kNewestOpset = 28;

/// The entry for an operator of a model's opset, or the sentence why there is
/// none.
llvm::Expected<const Operator *>
findOperator(llvm::StringRef domain, llvm::StringRef name, int64_t opset);

} // namespace dlc
