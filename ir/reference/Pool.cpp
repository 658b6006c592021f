// SPDX-License-Identifier: Apache-2.0
// Pooling windows.
#include "ir/reference/Walk.h"
#include "ir/scalar/Scalar.h"

namespace dlc::reference {

namespace {

/// What the window of one output position covers along one dimension.
struct Cells {
  Index inside;    ///< positions in the input
  int64_t counted; ///< cells that an average divides by
};

/// Windows are boxes: each dimension is found on its own.
std::vector<Cells> cellsAlong(const PoolOp &op, size_t d, int64_t size,
                              int64_t outputs) {
  int64_t extra = d < op.ceilExtra().size() ? op.ceilExtra()[d] : 0;
  int64_t end = size + op.padHigh()[d] - extra; // of the declared padding
  std::vector<Cells> result(outputs);
  for (int64_t o = 0; o < outputs; o++) {
    result[o].counted = 0;
    for (int64_t k = 0; k < op.window()[d]; k++) {
      int64_t at = o * op.strides()[d] - op.padLow()[d] + k * op.dilations()[d];
      if (at >= 0 && at < size)
        result[o].inside.push_back(at);
      bool counted = op.countIncludePad() ? at < end : at >= 0 && at < size;
      result[o].counted += counted;
    }
  }
  return result;
}

template <class T>
T poolWindow(PoolKind kind, const T *from, llvm::ArrayRef<const Cells *> window,
             const Index &strides) {
  using A = std::conditional_t<scalar::kIsFloat<T>, double, int64_t>;
  Index sizes;
  int64_t counted = 1;
  for (const Cells *cells : window) {
    sizes.push_back(int64_t(cells->inside.size()));
    counted *= cells->counted;
  }
  T largest = scalar::lowest<T>();
  A sum = 0;
  forEachIndex(sizes, [&](const Index &index, int64_t) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); d++)
      at += window[d]->inside[index[d]] * strides[d];
    largest = scalar::max(largest, from[at]);
    sum += A(from[at]);
  });
  if (kind == PoolKind::Max)
    return largest;
  if (kind == PoolKind::Average)
    sum = counted ? A(sum / A(counted)) : A(0);
  return T(sum);
}

} // namespace

Expected<Tensors> evaluatePool(const Context &c) {
  auto op = llvm::cast<PoolOp>(&c.op);
  const Tensor &x = c.input(0);
  Index shape(x.rank()), strides = rowMajorStrides(x.shape());
  std::vector<std::vector<Cells>> cells(x.rank());
  for (int64_t d = 0; d < x.rank(); d++) {
    int64_t room = x.shape()[d] + op.padLow()[d] + op.padHigh()[d] -
                   (op.window()[d] - 1) * op.dilations()[d] - 1;
    shape[d] = room < 0 ? 0 : room / op.strides()[d] + 1;
    cells[d] = cellsAlong(op, size_t(d), x.shape()[d], shape[d]);
  }
  Tensor result(x.element(), shape);
  dispatch(x.element(), [&](auto tag) {
    using T = decltype(tag);
    const T *from = x.as<T>();
    T *to = result.as<T>();
    std::vector<const Cells *> window(x.rank());
    forEachIndex(shape, [&](const Index &index, int64_t i) {
      for (size_t d = 0; d < index.size(); d++)
        window[d] = &cells[d][index[d]];
      to[i] = poolWindow(op.kind(), from, window, strides);
    });
  });
  return Tensors{result};
}

} // namespace dlc::reference
