// SPDX-License-Identifier: Apache-2.0
// Scatters: updates apply in row-major order, those out of range are dropped.
#include "ir/reference/Walk.h"
#include "ir/scalar/Scalar.h"

namespace dlc::reference {

template <class T>
static void update(ScatterReduction reduction, T &to, T value) {
  switch (reduction) {
  case ScatterReduction::None:
    to = value;
    return;
  case ScatterReduction::Add:
    to = scalar::add(to, value);
    return;
  case ScatterReduction::Mul:
    to = scalar::mul(to, value);
    return;
  case ScatterReduction::Max:
    to = scalar::max(to, value);
    return;
  case ScatterReduction::Min:
    to = scalar::min(to, value);
    return;
  }
}

Expected<Tensors> evaluateScatterElements(const Context &c) {
  auto op = llvm::cast<ScatterElementsOp>(&c.op);
  const Tensor &x = c.input(0), &indices = c.input(1), &updates = c.input(2);
  int64_t axis = positiveAxis(op.axis(), x.rank());
  bool fits = indices.rank() == x.rank() && updates.shape() == indices.shape();
  for (int64_t d = 0; fits && d < x.rank(); d++)
    fits = d == axis || indices.shape()[d] <= x.shape()[d];
  if (!fits)
    return c.error("indices " + shapeText(indices.shape()) + " and updates " +
                   shapeText(updates.shape()) + " do not fit input " +
                   shapeText(x.shape()));
  Index strides = rowMajorStrides(x.shape());
  Tensor result = x;
  dispatch(x.element(), [&](auto tag) {
    using T = decltype(tag);
    T *to = result.as<T>();
    const T *from = updates.as<T>();
    forEachIndex(indices.shape(), [&](const Index &index, int64_t i) {
      int64_t chosen = indices.intAt(i), size = x.shape()[axis], at = 0;
      chosen += chosen < 0 ? size : 0;
      if (chosen < 0 || chosen >= size)
        return;
      for (int64_t d = 0; d < x.rank(); d++)
        at += (d == axis ? chosen : index[d]) * strides[d];
      update(op.reduction(), to[at], from[i]);
    });
  });
  return Tensors{result};
}

Expected<Tensors> evaluateScatterNd(const Context &c) {
  auto op = llvm::cast<ScatterNdOp>(&c.op);
  const Tensor &x = c.input(0), &indices = c.input(1), &updates = c.input(2);
  llvm::ArrayRef<int64_t> xs = x.shape(), is = indices.shape();
  int64_t depth = is.back(); // of an index tuple
  Index expected(is.begin(), is.end() - 1);
  if (depth <= x.rank())
    llvm::append_range(expected, xs.drop_front(depth));
  if (depth > x.rank() || updates.shape() != expected)
    return c.error("indices " + shapeText(is) + " and updates " +
                   shapeText(updates.shape()) + " do not fit input " +
                   shapeText(xs));
  int64_t slice = product(xs.drop_front(depth));
  int64_t tuples = product(is.drop_back());
  Index strides = rowMajorStrides(xs);
  Tensor result = x;
  dispatch(x.element(), [&](auto tag) {
    using T = decltype(tag);
    T *to = result.as<T>();
    const T *from = updates.as<T>();
    for (int64_t t = 0; t < tuples; t++) {
      int64_t at = 0;
      bool inside = true;
      for (int64_t d = 0; d < depth; d++) {
        int64_t i = indices.intAt(t * depth + d);
        i += i < 0 ? xs[d] : 0;
        inside &= i >= 0 && i < xs[d];
        at += i * strides[d];
      }
      for (int64_t i = 0; inside && i < slice; i++)
        update(op.reduction(), to[at + i], from[t * slice + i]);
    }
  });
  return Tensors{result};
}

} // namespace dlc::reference
