// SPDX-License-Identifier: Apache-2.0
// Attention: scores, softmax and weighted mean of each row, in f64.
#include "ir/reference/Walk.h"

#include <cmath>
#include <limits>

namespace dlc::reference {

namespace {
/// An operand as [batch, rows, columns], whose batch broadcasts.
struct Matrices {
  Tensor tensor; // f64
  int64_t rows, columns;
  Index strides; // of the result's batch, in elements

  Matrices(const Tensor &t, llvm::ArrayRef<int64_t> batch)
      : tensor(t.converted(DataType::F64)),
        rows(t.rank() > 1 ? t.shape()[t.rank() - 2] : 1),
        columns(t.rank() > 0 ? t.shape().back() : 1), strides(batch.size(), 0) {
    int64_t stride = rows * columns, d = t.rank() - 3;
    for (int64_t to = int64_t(batch.size()) - 1; d >= 0 && to >= 0; --d, --to) {
      strides[to] = t.shape()[d] == 1 ? 0 : stride;
      stride *= t.shape()[d];
    }
  }
  int64_t start(const Index &batch) const {
    int64_t at = 0;
    for (size_t d = 0; d < batch.size(); d++)
      at += batch[d] * strides[d];
    return at;
  }
  double at(int64_t start, int64_t row, int64_t column) const {
    return tensor.as<double>()[start + row * columns + column];
  }
};
} // namespace

Expected<Tensors> evaluateAttention(const Context &c) {
  auto op = llvm::cast<AttentionOp>(&c.op);
  Index batch;
  for (unsigned i = 0; i < 3; i++) {
    Expected<Index> both = broadcastShapes(
        c, batch, llvm::ArrayRef(c.input(i).shape()).drop_back(2));
    if (!both)
      return both.takeError();
    batch = *both;
  }
  const Matrices q(c.input(0), batch), k(c.input(1), batch),
      v(c.input(2), batch);
  if (q.columns != k.columns || k.rows != v.rows)
    return c.error("q, k and v of shapes " + shapeText(q.tensor.shape()) +
                   ", " + shapeText(k.tensor.shape()) + " and " +
                   shapeText(v.tensor.shape()) + " do not fit");
  std::optional<Tensor> bias;
  if (c.has(3)) {
    Index scores = batch;
    scores.push_back(q.rows);
    scores.push_back(k.rows);
    Expected<Index> both = broadcastShapes(c, c.input(3).shape(), scores);
    if (!both)
      return both.takeError();
    if (*both != scores)
      return c.error("a bias of shape " + shapeText(c.input(3).shape()) +
                     " does not fit scores of shape " + shapeText(scores));
    bias = broadcastTo(c.input(3), scores);
  }
  Index shape = batch;
  shape.push_back(q.rows);
  shape.push_back(v.columns);
  Tensor result(DataType::F64, shape);
  double *to = result.as<double>();
  std::vector<double> weights(k.rows);
  forEachIndex(batch, [&](const Index &index, int64_t number) {
    int64_t startQ = q.start(index), startK = k.start(index),
            startV = v.start(index);
    for (int64_t m = 0; m < q.rows; m++) {
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t n = 0; n < k.rows; n++) {
        double product = 0;
        for (int64_t d = 0; d < q.columns; d++)
          product += q.at(startQ, m, d) * k.at(startK, n, d);
        weights[n] = product * op.scale();
        if (bias)
          weights[n] += bias->floatAt((number * q.rows + m) * k.rows + n);
        if (weights[n] > largest || std::isnan(weights[n]))
          largest = weights[n];
      }
      for (double &w : weights)
        sum += w = std::exp(w - largest);
      for (double &w : weights) {
        w /= sum;
        if (op.nanRowsZero() && std::isnan(w))
          w = 0;
      }
      for (int64_t d = 0; d < v.columns; d++) {
        double mean = 0;
        for (int64_t n = 0; n < k.rows; n++)
          mean += weights[n] * v.at(startV, n, d);
        *to++ = mean;
      }
    }
  });
  return Tensors{result};
}

} // namespace dlc::reference
