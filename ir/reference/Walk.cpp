// SPDX-License-Identifier: Apache-2.0
// Copies by index tables.
#include "ir/reference/Walk.h"

namespace dlc::reference {

Tensor copyThrough(const Tensor &input, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<Index> tables, const Tensor *fill) {
  Tensor result(input.element(), shape);
  int64_t rank = int64_t(shape.size());
  if (result.elements() == 0)
    return result;
  for (int64_t d = 0; d < rank; d++)
    DLC_CHECK(int64_t(tables[d].size()) == shape[d]);
  dispatchBits(input.element(), [&](auto bits) {
    using T = decltype(bits);
    const T *from = input.as<T>();
    T *to = result.as<T>();
    T outside = 0;
    if (fill)
      std::memcpy(&outside, fill->data(), sizeof(T));
    if (rank == 0) {
      *to = *from;
      return;
    }
    const Index &row = tables[rank - 1];
    llvm::ArrayRef<int64_t> outer = shape.drop_back();
    int64_t rows = product(outer);
    Index index(outer.size(), 0);
    for (int64_t r = 0; r < rows; r++, advance(index, outer)) {
      int64_t base = 0;
      bool inside = true;
      for (size_t d = 0; d < outer.size(); d++) {
        inside &= tables[d][index[d]] != kNoElement;
        base += tables[d][index[d]];
      }
      for (int64_t offset : row) {
        int64_t at = base + offset;
        bool exists = inside && offset != kNoElement;
        DLC_CHECK(!exists || (at >= 0 && at < input.elements()));
        *to++ = exists ? from[at] : outside;
      }
    }
  });
  return result;
}

Tensor broadcastTo(const Tensor &input, llvm::ArrayRef<int64_t> shape) {
  if (llvm::ArrayRef<int64_t>(input.shape()) == shape)
    return input;
  Index strides = rowMajorStrides(input.shape());
  size_t missing = shape.size() - input.shape().size();
  std::vector<Index> tables(shape.size());
  for (size_t d = 0; d < shape.size(); d++) {
    tables[d].assign(shape[d], 0);
    if (d < missing || input.shape()[d - missing] == 1)
      continue;
    for (int64_t i = 0; i < shape[d]; i++)
      tables[d][i] = i * strides[d - missing];
  }
  return copyThrough(input, shape, tables);
}

} // namespace dlc::reference
