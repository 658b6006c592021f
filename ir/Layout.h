// SPDX-License-Identifier: Apache-2.0
// Layouts: how the elements of a tensor lie in memory.
#pragma once

#include "ir/Dim.h"
#include "llvm/Support/Error.h"

namespace dlc {

/// An ordered list of (dimension, factor), outermost first, and padding per
/// dimension. A dimension that appears several times is split: each entry but
/// its outermost has a factor (its extent), the outermost has factor 0 (the
/// rest, rounded up). The empty list is row-major in the tensor's own order.
/// `nhwc` is [0, 2, 3, 1] of a rank-4 tensor; `nc/32hw32` is
/// [(0), (1), (2), (3), (1, 32)]. A value type with an algebra: compose,
/// inverse, isContiguous, tested by its laws.
class Layout {
public:
  struct Entry {
    int64_t dimension;
    int64_t factor; ///< 0: what is left of the dimension
    friend bool operator==(const Entry &, const Entry &) = default;
  };
  Layout() = default;
  static Layout rowMajor() { return {}; }
  static Layout permuted(llvm::ArrayRef<int64_t> order);
  /// Channels last for rank 3, 4, 5: N, spatial, C. Row-major otherwise.
  static Layout channelsLast(int64_t rank);
  /// Dimension order with factors; canonical (a plain identity becomes empty).
  static Layout blocked(llvm::ArrayRef<Entry> entries, int64_t rank);

  bool isRowMajor() const { return entryList.empty() && pads.empty(); }
  /// Every dimension appears once and nothing is padded: a plain order.
  bool isPermutation() const;
  /// Every dimension appears once: it has a stride. Rows may be padded.
  bool isUnsplit() const;
  /// Entries for a tensor of `rank` (spelled out for row-major).
  llvm::SmallVector<Entry, 6> entries(int64_t rank) const;
  /// Physical dimension order where no dimension is split, for `rank`.
  llvm::SmallVector<int64_t, 6> order(int64_t rank) const;

  /// Extents in memory, outermost first, of a tensor of `shape` (padded up).
  Shape physicalShape(llvm::ArrayRef<Dim> shape) const;
  /// Elements in memory, padding included.
  Dim storageElements(llvm::ArrayRef<Dim> shape) const;
  /// Stride in elements of each logical dimension; none may be split.
  Shape strides(llvm::ArrayRef<Dim> shape) const;
  /// Offset in elements of the element at `index`.
  Dim offset(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<Dim> index) const;
  /// The layout of transpose(x, permutation) that leaves memory as it is.
  Layout transposed(llvm::ArrayRef<int64_t> permutation) const;
  /// Of a plain order: compose(inverse()) is row-major.
  Layout inverse(int64_t rank) const;
  /// This plain order, over the dimensions in memory of a tensor of `rank` that
  /// lies as `inner` says.
  Layout compose(const Layout &inner, int64_t rank) const;

  /// Rows of `dimension` padded to a multiple, 1 for none.
  int64_t padding(int64_t dimension) const;
  Layout withPadding(int64_t dimension, int64_t multiple) const;

  std::string str(int64_t rank) const; ///< "nhwc" or "[0,1,2,3,1/32]"
  static llvm::Expected<Layout> parse(llvm::StringRef text, int64_t rank);
  friend bool operator==(const Layout &, const Layout &) = default;

private:
  llvm::SmallVector<Entry, 4> entryList;
  llvm::SmallVector<std::pair<int64_t, int64_t>, 1> pads; // dimension, multiple
};

} // namespace dlc
