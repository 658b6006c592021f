// SPDX-License-Identifier: Apache-2.0
// The type of a value: element type, shape, layout.
#pragma once

#include "ir/DataType.h"
#include "ir/Layout.h"

namespace dlc {

/// Compared by value. Text: `tensor<"N"x64x56x56xf16, nhwc>`; rank 0:
/// `tensor<f32>`.
struct TensorType {
  DataType element = DataType::F32;
  Shape shape;
  Layout layout;

  TensorType() = default;
  TensorType(DataType element, llvm::ArrayRef<Dim> shape, Layout layout = {})
      : element(element), shape(shape.begin(), shape.end()),
        layout(std::move(layout)) {}

  int64_t rank() const { return int64_t(shape.size()); }
  /// Negative i counts from the end.
  const Dim &dim(int64_t i) const {
    return shape[i < 0 ? shape.size() + i : i];
  }
  bool isStatic() const;
  Dim elementCount() const { return dlc::elementCount(shape); }
  /// Bytes in memory, layout padding included.
  Dim storageBytes() const;
  TensorType withElement(DataType e) const { return {e, shape, layout}; }
  TensorType withShape(llvm::ArrayRef<Dim> s) const {
    return {element, s};
  } ///< row-major
  TensorType withLayout(Layout l) const {
    return {element, shape, std::move(l)};
  }

  friend bool operator==(const TensorType &a, const TensorType &b) {
    return a.element == b.element && a.shape == b.shape && a.layout == b.layout;
  }
  friend bool operator!=(const TensorType &a, const TensorType &b) {
    return !(a == b);
  }
  void print(llvm::raw_ostream &os) const;
  std::string str() const;
};

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os,
                                     const TensorType &t) {
  t.print(os);
  return os;
}

} // namespace dlc
