// SPDX-License-Identifier: Apache-2.0
// Questions about values that several passes ask.
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// The tensor of a `constant` op; nothing for other values.
std::optional<Constant> constantOf(const Value *value);
/// The one value of all elements of a constant.
std::optional<double> uniformOf(const Value *value);
bool isConstantValue(const Value *value);

/// Are all dimensions equal, as far as their expressions show?
bool sameShape(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b);
inline bool sameShape(const Value *a, const Value *b) {
  return sameShape(a->type().shape, b->type().shape);
}
/// The shape that NumPy broadcasting gives; nothing where it is not known.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<Shape> shapes);
/// The constants of a list of dimensions; nothing if one is symbolic.
std::optional<std::vector<int64_t>> constantDims(llvm::ArrayRef<Dim> dims);
/// `axis` counted from the front.
inline int64_t normalAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}
/// Axes of a reduction, from the front, sorted.
std::vector<int64_t> normalAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

/// Is `value` at least +0 wherever it is no NaN, and never -0, as far as its
/// producers show?
bool isPlusZeroOrMore(const Value *value, unsigned depth = 6);

/// Does `layout` put the elements where the type's own layout does?
bool sameMemory(const TensorType &type, const Layout &layout);

/// The largest finite magnitude of a floating-point type.
double largestFinite(DataType type);
/// The smallest magnitude that keeps its full precision.
double smallestNormal(DataType type);

/// Is it a constant or a size of one element, which a body holds as a literal?
bool isLiteral(const Value *value);
/// Index arithmetic, arithmetic of literals, or a cast that loses nothing:
/// computing it again wherever it is read costs less than storing it.
bool isFreeToRepeat(const Op &op);

/// Is every result without uses in its graph except as an operand of `user`?
bool usedOnlyBy(const Value *value, const Op *user);

/// Does a contraction or window read it, which begins a kernel?
bool isReadByHero(const Value *value);

} // namespace dlc
