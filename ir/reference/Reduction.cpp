// SPDX-License-Identifier: Apache-2.0
// Reductions and scans along axes.
#include "ir/reference/Walk.h"
#include "ir/scalar/Scalar.h"

namespace dlc::reference {

/// Sums and products of floats accumulate in f64, of integers in their own
/// type, where they wrap.
template <class T>
using Accumulator = std::conditional_t<scalar::kIsFloat<T>, double, T>;

template <class A> static A neutral(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Any:
    return A(0);
  case ReduceKind::Prod:
  case ReduceKind::All:
    return A(1);
  case ReduceKind::Max:
    return scalar::lowest<A>();
  case ReduceKind::Min:
    return scalar::highest<A>();
  }
  __builtin_unreachable();
}

template <class A> static A combine(ReduceKind kind, A x, A y) {
  switch (kind) {
  case ReduceKind::Sum:
    return scalar::add(x, y);
  case ReduceKind::Prod:
    return scalar::mul(x, y);
  case ReduceKind::Max:
    return scalar::max(x, y);
  case ReduceKind::Min:
    return scalar::min(x, y);
  case ReduceKind::Any:
    return A(x != A(0) || y != A(0));
  case ReduceKind::All:
    return A(x != A(0) && y != A(0));
  }
  __builtin_unreachable();
}

Expected<Tensors> evaluateReduce(const Context &c) {
  auto op = llvm::cast<ReduceOp>(&c.op);
  const Tensor &x = c.input(0);
  std::vector<bool> reduced(x.rank(), false);
  for (int64_t axis : op.axes())
    reduced[positiveAxis(axis, x.rank())] = true;
  Index kept, whole; // without, and with, the reduced dimensions as 1
  for (int64_t d = 0; d < x.rank(); d++) {
    if (!reduced[d])
      kept.push_back(x.shape()[d]);
    whole.push_back(reduced[d] ? 1 : x.shape()[d]);
  }
  Index strides = rowMajorStrides(whole);
  for (int64_t d = 0; d < x.rank(); d++)
    if (reduced[d])
      strides[d] = 0;
  Tensor result(x.element(), op.keepDims() ? whole : kept);
  dispatch(x.element(), [&](auto tag) {
    using T = decltype(tag);
    using A = Accumulator<T>;
    std::vector<A> sums(result.elements(), neutral<A>(op.kind()));
    const T *from = x.as<T>();
    forEachIndex(x.shape(), [&](const Index &index, int64_t i) {
      int64_t to = 0;
      for (size_t d = 0; d < index.size(); d++)
        to += index[d] * strides[d];
      sums[to] = combine<A>(op.kind(), sums[to], A(from[i]));
    });
    T *to = result.as<T>();
    for (size_t i = 0; i < sums.size(); i++)
      to[i] = T(sums[i]);
  });
  return Tensors{result};
}

/// Is x a better choice than the best so far? The first NaN beats all.
template <class T>
static bool beats(ArgReduceKind kind, T x, T best, bool last) {
  if (best != best)
    return last && x != x;
  if (x != x || (last && x == best))
    return true;
  return kind == ArgReduceKind::Max ? x > best : x < best;
}

Expected<Tensors> evaluateArgReduce(const Context &c) {
  auto op = llvm::cast<ArgReduceOp>(&c.op);
  const Tensor &x = c.input(0);
  int64_t axis = positiveAxis(op.axis(), x.rank());
  AxisView view(x.shape(), axis);
  Index shape = x.shape();
  if (op.keepDims())
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  Tensor result(DataType::I64, shape);
  if (view.size == 0 && result.elements() != 0)
    return c.error("no element to choose from along dimension " +
                   llvm::Twine(axis) + " of " + shapeText(x.shape()));
  dispatch(x.element(), [&](auto tag) {
    using T = decltype(tag);
    const T *from = x.as<T>();
    int64_t *to = result.as<int64_t>();
    for (int64_t o = 0; o < view.outer; o++)
      for (int64_t i = 0; i < view.inner; i++) {
        const T *row = from + o * view.size * view.inner + i;
        int64_t best = 0;
        for (int64_t k = 1; k < view.size; k++)
          if (beats(op.kind(), row[k * view.inner], row[best * view.inner],
                    op.selectLast()))
            best = k;
        *to++ = best;
      }
  });
  return Tensors{result};
}

Expected<Tensors> evaluateCumulative(const Context &c) {
  auto op = llvm::cast<CumulativeOp>(&c.op);
  const Tensor &x = c.input(0);
  Tensor result(x.element(), x.shape());
  // A scalar has one element along any axis.
  AxisView view = x.rank()
                      ? AxisView(x.shape(), positiveAxis(op.axis(), x.rank()))
                      : AxisView({1}, 0);
  ReduceKind kind =
      op.kind() == CumulativeKind::Sum ? ReduceKind::Sum : ReduceKind::Prod;
  dispatch(x.element(), [&](auto tag) {
    using T = decltype(tag);
    using A = Accumulator<T>;
    const T *from = x.as<T>();
    T *to = result.as<T>();
    for (int64_t o = 0; o < view.outer; o++)
      for (int64_t i = 0; i < view.inner; i++) {
        A sum = neutral<A>(kind);
        for (int64_t k = 0; k < view.size; k++) {
          int64_t at = op.reverse() ? view.size - 1 - k : k;
          at = (o * view.size + at) * view.inner + i;
          A next = combine<A>(kind, sum, A(from[at]));
          to[at] = T(op.exclusive() ? sum : next);
          sum = next;
        }
      }
  });
  return Tensors{result};
}

Expected<Tensors> evaluateTopK(const Context &c) {
  auto op = llvm::cast<TopKOp>(&c.op);
  const Tensor &x = c.input(0);
  int64_t axis = positiveAxis(op.axis(), x.rank());
  AxisView view(x.shape(), axis);
  Expected<Index> k = c.values(op.k());
  if (!k)
    return k.takeError();
  int64_t count = k->at(0);
  if (count < 0 || count > view.size)
    return c.error("k is " + llvm::Twine(count) + ", dimension " +
                   llvm::Twine(axis) + " of " + shapeText(x.shape()) + " has " +
                   llvm::Twine(view.size));
  Index shape = x.shape();
  shape[axis] = count;
  Tensor values(x.element(), shape), indices(DataType::I64, shape);
  dispatch(x.element(), [&](auto tag) {
    using T = decltype(tag);
    const T *from = x.as<T>();
    T *chosen = values.as<T>();
    int64_t *where = indices.as<int64_t>();
    std::vector<int64_t> order(view.size);
    for (int64_t o = 0; o < view.outer; o++)
      for (int64_t i = 0; i < view.inner; i++) {
        const T *row = from + o * view.size * view.inner + i;
        for (int64_t j = 0; j < view.size; j++)
          order[j] = j;
        // A NaN sorts above all numbers; equal elements keep their order.
        llvm::stable_sort(order, [&](int64_t a, int64_t b) {
          T p = row[a * view.inner], q = row[b * view.inner];
          return op.largest() ? scalar::sorts_before(q, p)
                              : scalar::sorts_before(p, q);
        });
        for (int64_t j = 0; j < count; j++) {
          int64_t at = (o * count + j) * view.inner + i;
          chosen[at] = row[order[j] * view.inner];
          where[at] = order[j];
        }
      }
  });
  return Tensors{values, indices};
}

} // namespace dlc::reference
