// SPDX-License-Identifier: Apache-2.0
// What a module takes for granted of its symbolic sizes.
#pragma once

#include "ir/Symbol.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace dlc {

enum class Relation : uint8_t { Equal, LessEqual };

/// `left relation right`, which the ops of a module rely on and which could not
/// be proved. Checked when the input shapes are known: other shapes are
/// refused with the sentence.
struct Constraint {
  Dim left;
  Relation relation = Relation::Equal;
  Dim right;
  /// What was expected, with the ONNX node: `node "a" (Add): expected ...`.
  std::string sentence;
};

/// Does it hold for all values that the table allows?
Proof prove(const Constraint &constraint, const SymbolTable &symbols);

/// The constraints of a module: none is proved, none is listed twice.
using ConstraintList = std::vector<Constraint>;

/// Adds `left relation right` unless it is proved or listed.
void assume(ConstraintList &list, const SymbolTable &symbols, const Dim &left,
            Relation relation, const Dim &right, const llvm::Twine &sentence);

/// An error with the sentence and the sizes found, for the first constraint
/// that does not hold. Those with a symbol of unknown value are passed over.
llvm::Error checkConstraints(
    llvm::ArrayRef<Constraint> constraints,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup);

} // namespace dlc
