// SPDX-License-Identifier: Apache-2.0
// Walking tensors: row-major strides, odometers, and copies by index tables.
#pragma once

#include "ir/reference/Context.h"

#include <cstring>

namespace dlc::reference {

using Index = std::vector<int64_t>;

/// Strides in elements of a row-major tensor.
inline Index rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Index strides(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; d--)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

inline int64_t product(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

/// Steps `index` to the next coordinates in row-major order, wrapping at the
/// end.
inline void advance(Index &index, llvm::ArrayRef<int64_t> shape) {
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; d--) {
    if (++index[d] < shape[d])
      return;
    index[d] = 0;
  }
}

/// Calls fn(index, linear) for all coordinates of `shape` in row-major order.
template <class Fn> void forEachIndex(llvm::ArrayRef<int64_t> shape, Fn &&fn) {
  int64_t n = product(shape);
  Index index(shape.size(), 0);
  for (int64_t i = 0; i < n; i++, advance(index, shape))
    fn(static_cast<const Index &>(index), i);
}

/// A tensor seen as [outer, size, inner] around one axis.
struct AxisView {
  int64_t outer, size, inner;
  AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis)
      : outer(product(shape.take_front(axis))), size(shape[axis]),
        inner(product(shape.drop_front(axis + 1))) {}
};

/// An axis that may count from the end, as a position.
inline int64_t positiveAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

/// Calls fn(T()) with an unsigned integer as wide as one element of `t`.
template <class Fn> auto dispatchBits(DataType t, Fn &&fn) {
  switch (bitWidth(t)) {
  case 64:
    return fn(uint64_t());
  case 32:
    return fn(uint32_t());
  case 16:
    return fn(uint16_t());
  default:
    return fn(uint8_t());
  }
}

/// Offset in a table of copyThrough that stands for no element.
inline constexpr int64_t kNoElement = -1;

/// The tensor of `shape` whose element at i is the input's at the sum over d of
/// tables[d][i[d]], or `fill` (zero when null) where any entry is kNoElement.
/// Each table entry is an offset in elements. This is what all views are.
Tensor copyThrough(const Tensor &input, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<Index> tables, const Tensor *fill = nullptr);

/// NumPy broadcast of `input` to `shape`, which it must fit.
Tensor broadcastTo(const Tensor &input, llvm::ArrayRef<int64_t> shape);

} // namespace dlc::reference
