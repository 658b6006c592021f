// SPDX-License-Identifier: Apache-2.0
// Windows and Fourier transforms, as constants and products with them.
#include "compiler/onnx/Operators.h"
#include <cmath>

using namespace dlc;

namespace dlc {

static constexpr int64_t kLongest = 1 << 16; // samples of a transform

/// One value of input `i`, from 1 to what a transform may have.
static std::optional<int64_t> length(NodeReader &n, unsigned i,
                                     llvm::StringRef what) {
  std::optional<std::vector<int64_t>> values = n.ints(i, what);
  if (!values)
    return std::nullopt;
  if (values->size() != 1 || values->front() < 1 ||
      values->front() > kLongest) {
    n.error("input " + llvm::Twine(i) + " (" + what +
            ") is not one number from 1 to " + llvm::Twine(kLongest));
    return std::nullopt;
  }
  return values->front();
}

/// a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N)
static void window(NodeReader &n, NodeBuilder &b, double a0, double a1,
                   double a2) {
  bool periodic = n.flag("periodic", true);
  DataType type = DataType::F32;
  if (n.has("output_datatype")) {
    std::optional<DataType> given = n.elementType("output_datatype");
    if (!given)
      return;
    type = *given;
  }
  std::optional<int64_t> size = length(n, 0, "size");
  if (!size)
    return;
  double steps = double(periodic ? *size : *size - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < *size; ++i) {
    double angle = 2 * M_PI * double(i) / steps;
    values.push_back(*size == 1 ? 1.0
                                : a0 - a1 * std::cos(angle) +
                                      a2 * std::cos(2 * angle));
  }
  n.result(
      b.constant(Constant::fromFloats(TensorType(type, {Dim(*size)}), values)));
}
void importHannWindow(NodeReader &n, NodeBuilder &b) {
  window(n, b, 0.5, 0.5, 0);
}
void importHammingWindow(NodeReader &n, NodeBuilder &b) {
  window(n, b, 25.0 / 46, 21.0 / 46, 0);
}
void importBlackmanWindow(NodeReader &n, NodeBuilder &b) {
  window(n, b, 0.42, 0.5, 0.08);
}

/// The matrix [n * parts, bins * 2] that turns (real, imaginary) pairs, or real
/// numbers alone, of a signal into those of its transform.
static std::vector<double> transform(int64_t size, int64_t parts, int64_t bins,
                                     bool inverse) {
  std::vector<double> matrix(size_t(size * parts * bins * 2));
  double sign = inverse ? 1 : -1, scale = inverse ? 1.0 / double(size) : 1;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t k = 0; k < bins; ++k) {
      // Whole turns are taken out first, so that long signals stay exact.
      double angle = 2 * M_PI * double(i * k % size) / double(size);
      double real = scale * std::cos(angle),
             imaginary = scale * sign * std::sin(angle);
      double *row = &matrix[size_t((i * parts * bins + k) * 2)];
      row[0] = real;
      row[1] = imaginary;
      if (parts == 2) {
        row += bins * 2;
        row[0] = -imaginary;
        row[1] = real;
      }
    }
  return matrix;
}

/// From opset 20 on the axis is an input and counts from the end.
void importDFT(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t rank = x->type().rank();
  bool inverse = n.flag("inverse", false), oneSided = n.flag("onesided", false);
  int64_t axis = n.opset() < 20 ? n.integer("axis", 1) : -2;
  if (n.opset() >= 20 && n.hasInput(2)) {
    std::optional<std::vector<int64_t>> given = n.ints(2, "axis");
    if (!given || given->size() != 1)
      return n.error("input 2 (axis) has no single value");
    axis = given->front();
  }
  if (rank < 2 || !isFloat(x->type().element))
    return n.error(
        "input 0 has type " + x->type().str() +
        ", expected [batch, signal..., 1 or 2] of floating-point type");
  axis = n.normalizeAxis(axis, rank, "axis");
  std::optional<int64_t> parts = x->type().dim(-1).tryConstant();
  std::optional<int64_t> size = x->type().shape[axis].tryConstant();
  if (n.failed())
    return;
  if (!parts || (*parts != 1 && *parts != 2) || axis == rank - 1)
    return n.error("input 0 has type " + x->type().str() +
                   ", expected a last dimension of 1 or 2 beside the axis");
  if (oneSided && (inverse || *parts == 2))
    return n.error("onesided is supported for the forward transform of real "
                   "signals");
  Value *signal = x;
  if (n.hasInput(1)) {
    std::optional<int64_t> wanted = length(n, 1, "dft_length");
    if (!wanted)
      return;
    std::vector<Dim> low(size_t(rank), Dim(0)), high = low;
    high[size_t(axis)] = Dim(*wanted) - x->type().shape[axis];
    if (!high[size_t(axis)].isConstant(0))
      signal = b.emit<PadOp>(x, nullptr, low, high);
    size = wanted;
  }
  if (!size || *size < 1 || *size > kLongest / 16)
    return n.error("the signal " + x->type().str() +
                   " has no fixed length from 1 to " +
                   llvm::Twine(kLongest / 16));
  int64_t bins = oneSided ? *size / 2 + 1 : *size;
  // The signal goes next to its parts, both become one dimension.
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rank - 1; ++i)
    if (i != axis)
      order.push_back(i);
  order.push_back(axis);
  order.push_back(rank - 1);
  Value *turned = b.transpose(b.widen(signal), order);
  if (!turned)
    return;
  DataType wide = turned->type().element;
  std::vector<Dim> shape(turned->type().shape.begin(),
                         turned->type().shape.end() - 2);
  std::vector<Dim> flat = shape, result = shape;
  flat.push_back(*size * *parts);
  result.push_back(bins);
  result.push_back(2);
  if (flat.size() == 1)
    flat.insert(flat.begin(), Dim(1));
  Value *matrix = b.constant(Constant::fromFloats(
      TensorType(wide, {Dim(*size * *parts), Dim(bins * 2)}),
      transform(*size, *parts, bins, inverse)));
  Value *y =
      b.reshape(b.emit<MatMulOp>(b.reshape(turned, flat), matrix), result);
  std::vector<int64_t> back(static_cast<size_t>(rank));
  for (size_t i = 0; i < order.size(); ++i)
    back[size_t(order[i])] = int64_t(i);
  n.result(b.cast(b.transpose(y, back), x->type().element));
}

/// Frames of a real signal, windowed and transformed: a strided convolution
/// with the rows of the transform.
void importSTFT(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  bool oneSided = n.flag("onesided", true);
  std::optional<int64_t> step = length(n, 1, "frame_step");
  std::optional<Constant> weights;
  std::optional<int64_t> size;
  if (n.hasInput(2)) {
    weights = n.constant(2, "window");
    if (!weights)
      return;
    size = weights->elements();
  }
  if (n.hasInput(3))
    size = length(n, 3, "frame_length");
  if (n.failed())
    return;
  bool real = x->type().rank() == 2 ||
              (x->type().rank() == 3 && x->type().dim(-1).isConstant(1));
  if (!real || !isFloat(x->type().element))
    return n.error("signal is " + x->type().str() +
                   ", expected real numbers as [batch, length, 1]");
  if (!size || *size < 1 || *size > kLongest / 16 ||
      (weights && weights->elements() != *size))
    return n.error("expected a window or a frame_length that agree, of 1 to " +
                   llvm::Twine(kLongest / 16) + " samples");
  int64_t bins = oneSided ? *size / 2 + 1 : *size;
  std::vector<double> matrix = transform(*size, 1, bins, false);
  std::vector<double> filters(matrix.size());
  for (int64_t i = 0; i < *size; ++i)
    for (int64_t k = 0; k < bins * 2; ++k)
      filters[size_t(k * *size + i)] = matrix[size_t(i * bins * 2 + k)] *
                                       (weights ? weights->floatAt(i) : 1.0);
  const Shape shape = x->type().shape;
  Value *wide = b.widen(b.reshape(x, {shape[0], Dim(1), shape[1]}));
  if (!wide)
    return;
  Value *filter = b.constant(Constant::fromFloats(
      TensorType(wide->type().element, {Dim(bins * 2), Dim(1), Dim(*size)}),
      filters));
  std::vector<int64_t> strides{*step}, zeros{0}, ones{1};
  Value *y = b.emit<ConvOp>(wide, filter, strides, zeros, zeros, ones);
  if (!y)
    return;
  const Dim frames = y->type().shape[2];
  y = b.reshape(y, {shape[0], Dim(bins), Dim(2), frames});
  n.result(b.cast(b.transpose(y, {0, 3, 1, 2}), x->type().element));
}

} // namespace dlc
