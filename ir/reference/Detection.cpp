// SPDX-License-Identifier: Apache-2.0
// Ops whose results have a size that their data decides.
#include "ir/reference/Walk.h"
#include "ir/scalar/Scalar.h"

namespace dlc::reference {

namespace {

template <class T> struct Box {
  T y0, x0, y1, x1;

  static Box read(const T *p, bool center) {
    if (center) // x, y, width, height
      return {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2,
              p[0] + p[2] / 2};
    return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]),
            std::max(p[1], p[3])};
  }
  T area() const { return (y1 - y0) * (x1 - x0); }
  T overlap(const Box &b) const { // intersection over union
    T height = std::max(T(0), std::min(y1, b.y1) - std::max(y0, b.y0));
    T width = std::max(T(0), std::min(x1, b.x1) - std::max(x0, b.x0));
    T both = height * width, either = area() + b.area() - both;
    return either > 0 ? both / either : T(0);
  }
};

/// The value of an optional scalar operand.
double scalarOr(const Context &c, unsigned i, double otherwise) {
  if (!c.has(i) || c.input(i).elements() == 0)
    return otherwise;
  return isFloat(c.input(i).element()) ? c.input(i).floatAt(0)
                                       : double(c.input(i).intAt(0));
}

/// Boxes of one class that are kept, best first.
template <class T>
std::vector<int64_t> select(llvm::ArrayRef<Box<T>> boxes, const T *scores,
                            int64_t limit, T overlap, T least) {
  std::vector<int64_t> order, chosen;
  for (int64_t i = 0; i < int64_t(boxes.size()); i++)
    if (scores[i] > least)
      order.push_back(i);
  llvm::stable_sort(
      order, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  for (int64_t i : order) {
    if (int64_t(chosen.size()) >= limit)
      break;
    if (llvm::none_of(chosen, [&](int64_t j) {
          return boxes[i].overlap(boxes[j]) > overlap;
        }))
      chosen.push_back(i);
  }
  return chosen;
}

} // namespace

Expected<Tensors> evaluateNonMaxSuppression(const Context &c) {
  auto op = llvm::cast<NonMaxSuppressionOp>(&c.op);
  const Tensor &boxes = c.input(0), &scores = c.input(1);
  int64_t batches = boxes.shape()[0], count = boxes.shape()[1];
  int64_t classes = scores.shape()[1];
  if (scores.shape() != Index{batches, classes, count} || boxes.shape()[2] != 4)
    return c.error("boxes " + shapeText(boxes.shape()) + " and scores " +
                   shapeText(scores.shape()) + " do not fit");
  int64_t limit = scalar::cast<int64_t>(scalarOr(c, 2, 0));
  std::vector<int64_t> triples;
  dispatchFloat(boxes.element(), [&](auto tag) {
    using T = decltype(tag);
    T overlap = T(scalarOr(c, 3, 0));
    T least = T(scalarOr(c, 4, scalar::lowest<double>()));
    for (int64_t b = 0; b < batches; b++) {
      std::vector<Box<T>> read;
      for (int64_t i = 0; i < count; i++)
        read.push_back(Box<T>::read(boxes.as<T>() + (b * count + i) * 4,
                                    op.centerPointBox()));
      for (int64_t k = 0; k < classes; k++) {
        const T *own = scores.as<T>() + (b * classes + k) * count;
        for (int64_t i : select<T>(read, own, limit, overlap, least))
          llvm::append_values(triples, b, k, i);
      }
    }
  });
  Tensor result(DataType::I64, {int64_t(triples.size()) / 3, 3});
  llvm::copy(triples, result.as<int64_t>());
  return Tensors{result};
}

Expected<Tensors> evaluateNonZero(const Context &c) {
  const Tensor &x = c.input(0);
  std::vector<Index> found;
  forEachIndex(x.shape(), [&](const Index &index, int64_t i) {
    if (isFloat(x.element()) ? x.floatAt(i) != 0 : x.intAt(i) != 0)
      found.push_back(index);
  });
  Tensor result(DataType::I64, {x.rank(), int64_t(found.size())});
  int64_t *to = result.as<int64_t>();
  for (int64_t d = 0; d < x.rank(); d++)
    for (const Index &index : found)
      *to++ = index[d];
  return Tensors{result};
}

} // namespace dlc::reference
