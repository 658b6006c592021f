// SPDX-License-Identifier: Apache-2.0
// Gathers: an index out of range reads zero.
#include "ir/reference/Walk.h"

namespace dlc::reference {

/// Position of `index` in a dimension of `size`: negative ones count from the
/// end; kNoElement where out of range.
static int64_t positionOf(int64_t index, int64_t size) {
  if (index < 0)
    index += size;
  return index >= 0 && index < size ? index : kNoElement;
}

Expected<Tensors> evaluateGather(const Context &c) {
  const Tensor &x = c.input(0), &indices = c.input(1);
  int64_t axis = positiveAxis(llvm::cast<GatherOp>(&c.op).axis(), x.rank());
  AxisView view(x.shape(), axis);
  // The indices as one dimension; their shape is put in afterwards.
  Index flat = {view.outer, indices.elements(), view.inner};
  std::vector<Index> tables(3);
  for (int64_t o = 0; o < view.outer; o++)
    tables[0].push_back(o * view.size * view.inner);
  for (int64_t i = 0; i < indices.elements(); i++) {
    int64_t at = positionOf(indices.intAt(i), view.size);
    tables[1].push_back(at == kNoElement ? at : at * view.inner);
  }
  for (int64_t i = 0; i < view.inner; i++)
    tables[2].push_back(i);
  Index shape(x.shape().begin(), x.shape().begin() + axis);
  llvm::append_range(shape, indices.shape());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  return Tensors{copyThrough(x, flat, tables).withShape(shape)};
}

Expected<Tensors> evaluateGatherElements(const Context &c) {
  const Tensor &x = c.input(0), &indices = c.input(1);
  int64_t axis =
      positiveAxis(llvm::cast<GatherElementsOp>(&c.op).axis(), x.rank());
  if (indices.rank() != x.rank())
    return c.error("input " + shapeText(x.shape()) + " and indices " +
                   shapeText(indices.shape()) + " differ in rank");
  for (int64_t d = 0; d < x.rank(); d++)
    if (d != axis && indices.shape()[d] > x.shape()[d])
      return c.error("indices " + shapeText(indices.shape()) +
                     " reach outside input " + shapeText(x.shape()));
  Index strides = rowMajorStrides(x.shape());
  Tensor result(x.element(), indices.shape());
  dispatchBits(x.element(), [&](auto bits) {
    using T = decltype(bits);
    const T *from = x.as<T>();
    T *to = result.as<T>();
    forEachIndex(indices.shape(), [&](const Index &index, int64_t i) {
      int64_t chosen = positionOf(indices.intAt(i), x.shape()[axis]);
      if (chosen == kNoElement)
        return; // stays zero
      int64_t at = 0;
      for (int64_t d = 0; d < x.rank(); d++)
        at += (d == axis ? chosen : index[d]) * strides[d];
      to[i] = from[at];
    });
  });
  return Tensors{result};
}

Expected<Tensors> evaluateGatherNd(const Context &c) {
  const Tensor &x = c.input(0), &indices = c.input(1);
  int64_t batchDims = llvm::cast<GatherNdOp>(&c.op).batchDims();
  llvm::ArrayRef<int64_t> xs = x.shape(), is = indices.shape();
  int64_t depth = is.back(); // of an index tuple
  if (batchDims + depth > x.rank() ||
      xs.take_front(batchDims) != is.take_front(batchDims))
    return c.error("indices " + shapeText(is) + " do not fit input " +
                   shapeText(xs) + " with " + llvm::Twine(batchDims) +
                   " batch dimensions");
  llvm::ArrayRef<int64_t> slice = xs.drop_front(batchDims + depth);
  Index shape(is.begin(), is.end() - 1);
  llvm::append_range(shape, slice);
  Tensor result(x.element(), shape);
  int64_t bytes = byteSize(x.element(), 1) * product(slice);
  int64_t tuples = product(is.drop_back());
  int64_t perBatch = product(is.drop_back().drop_front(batchDims));
  Index strides = rowMajorStrides(xs);
  int64_t batchSize = product(xs.drop_front(batchDims));
  uint8_t *to = result.data();
  for (int64_t t = 0; t < tuples; t++, to += bytes) {
    int64_t at = t / perBatch * batchSize;
    bool exists = true;
    for (int64_t d = 0; d < depth; d++) {
      int64_t i = positionOf(indices.intAt(t * depth + d), xs[batchDims + d]);
      exists &= i != kNoElement;
      at += i * strides[batchDims + d];
    }
    if (exists && bytes)
      std::memcpy(to, x.data() + at * byteSize(x.element(), 1), bytes);
  }
  return Tensors{result};
}

} // namespace dlc::reference
