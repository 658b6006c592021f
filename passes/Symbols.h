// SPDX-License-Identifier: Apache-2.0
// Replaces symbols of a module by what has become known of them.
#pragma once

#include "ir/Ops.h"
#include <map>

namespace dlc {

/// What symbols are equal to.
class DimSubstitution {
public:
  /// `declared` and `actual` are the shape of one value: where a dimension of
  /// `declared` is a symbol and that of `actual` something else, they are
  /// equal.
  void learn(llvm::ArrayRef<Dim> declared, llvm::ArrayRef<Dim> actual);
  void learn(llvm::StringRef symbol, Dim value);
  bool empty() const { return known.empty(); }
  Dim apply(const Dim &dim) const;

private:
  std::map<std::string, Dim, std::less<>> known;
};

/// Rewrites all types and attributes, and infers result types again, since more
/// may be known of them.
void substitute(Module &module, const DimSubstitution &substitution);

} // namespace dlc
