// SPDX-License-Identifier: Apache-2.0
// The scalar semantics of a pointwise op: its expression and C++ types.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace dlc::tblgen {

/// The types of a scalar function: bool, or the name of a type parameter.
struct ScalarTypes {
  llvm::StringRef result;
  std::vector<llvm::StringRef> operands;

  /// The type parameters, the result's first: a caller may have to write it.
  std::vector<llvm::StringRef> parameters() const;
  /// Reads "T(bool, T, T)". False where the text is no such thing.
  bool parse(llvm::StringRef text);
};

/// The names in an expression, checked to be one over x0, x1, ...
class ScalarExpression {
public:
  /// What is wrong with `text` as an expression of `types`, or nothing.
  std::string parse(llvm::StringRef text, const ScalarTypes &types);

  /// Unqualified functions that are called: of ops, or of ir/scalar.
  bool calls(llvm::StringRef function) const {
    return functions.contains(function);
  }
  /// Does it call a function of libm, which differs between machines?
  bool callsLibm() const { return namespaces.contains("libm"); }

private:
  std::string readName(llvm::StringRef name, llvm::StringRef before,
                       llvm::StringRef after, const ScalarTypes &types);

  llvm::StringSet<> functions, namespaces, operands;
};

/// Name of the function of an op: its mnemonic, with an underscore where that
/// is a word of C++ ("and").
std::string scalarFunction(llvm::StringRef mnemonic);

} // namespace dlc::tblgen
