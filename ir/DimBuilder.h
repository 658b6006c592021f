// SPDX-License-Identifier: Apache-2.0
// Inside of Dim: nodes, and expressions as sums of multiples of products.
#pragma once

#include "ir/Dim.h"
#include <vector>

namespace dlc {

struct Dim::Node {
  Kind kind;
  std::string name; ///< of a symbol
  llvm::SmallVector<Dim, 3> operands;
};

/// `coefficient` times the product of `atoms`, which are sorted.
struct DimTerm {
  llvm::SmallVector<Dim, 2> atoms;
  int64_t coefficient;
};

/// Makes nodes as they are told; the public functions keep the canonical form.
struct DimBuilder {
  static Dim node(Dim::Kind kind, llvm::ArrayRef<Dim> operands);
  static Dim symbol(llvm::StringRef name);
  static Dim overflow();

  /// The terms of `d`; the constant one, if any, last.
  static std::vector<DimTerm> terms(const Dim &d);
  /// The canonical expression of a sum: like terms merge.
  static Dim sum(std::vector<DimTerm> terms);
  /// a == quotient * b + rest, taking from `a` what `b` divides term by term.
  struct Split {
    Dim quotient, rest;
  };
  static Split split(const Dim &a, const Dim &b);
};

} // namespace dlc
