// SPDX-License-Identifier: Apache-2.0
// What fuse-horizontal joins: a product with constant weights, and what is done
// to each of its columns.
#pragma once

#include "passes/Pass.h"

namespace dlc {

/// A matmul or convolution, the addition of a constant per column that alone
/// reads it, and what is done to each element of the sum.
struct ProductBranch {
  Op *product = nullptr;
  int64_t columns = 0;
  Op *add = nullptr;                ///< null: none
  Value *bias = nullptr;            ///< of `add`
  llvm::SmallVector<Op *, 2> steps; ///< one operand that is no constant each
  Value *result = nullptr;          ///< after the last step

  bool isConv() const { return product->kind() == OpKind::Conv; }
  /// The dimension of the result that counts columns.
  int64_t columnAxis() const;
  /// The shape of one number for each column: of the result's rank or a vector.
  Shape columnShape() const;
  /// Ends before the steps from this one on.
  void dropSteps(size_t from);
};

/// How a product reads its operands: those of the same input that do alike can
/// be one.
using ProductGeometry = std::vector<int64_t>;

/// Nothing if the op is no product that can be joined.
std::optional<ProductGeometry> geometryOf(Op &op, PassContext &context);
/// The branch that begins with such a product; nothing if joining would lose
/// more than it gains.
std::optional<ProductBranch> branchAt(Op &product, PassContext &context);
/// How many of their first steps are the same.
size_t countSameSteps(const ProductBranch &a, const ProductBranch &b);

} // namespace dlc
