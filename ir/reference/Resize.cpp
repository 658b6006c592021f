// SPDX-License-Identifier: Apache-2.0
// Resampling with exact coordinates.
#include "ir/reference/Walk.h"
#include "ir/scalar/Scalar.h"

#include <cmath>

namespace dlc::reference {

namespace {

/// A source coordinate, split so that ties are exact.
struct Coordinate {
  int64_t whole = 0;    ///< rounded down
  double fraction = 0;  ///< in [0, 1)
  bool tie = false;     ///< fraction is exactly one half
  bool outside = false; ///< extrapolated (tf_crop_and_resize)

  static Coordinate rational(__int128 numerator, __int128 denominator) {
    __int128 whole = numerator / denominator, rest = numerator % denominator;
    if (rest < 0) {
      whole--;
      rest += denominator;
    }
    return {int64_t(whole), double(rest) / double(denominator),
            2 * rest == denominator};
  }
  static Coordinate real(double x) {
    double whole = std::floor(x), fraction = x - whole;
    return {int64_t(whole), fraction, fraction == 0.5};
  }
};

/// One dimension of a resize.
struct Axis {
  CoordinateMode mode;
  int64_t in, out;
  std::optional<double> scale; ///< absent: exactly out / in
  double start = 0, end = 1;   ///< region of interest

  double factor() const { return scale ? *scale : double(out) / double(in); }

  Coordinate at(int64_t o) const {
    switch (mode) {
    case CoordinateMode::PytorchHalfPixel:
      if (out <= 1)
        return {};
      [[fallthrough]];
    case CoordinateMode::HalfPixel:
      if (scale)
        return Coordinate::real((double(o) + 0.5) / *scale - 0.5);
      return Coordinate::rational(__int128(2 * o + 1) * in - out, 2 * out);
    case CoordinateMode::HalfPixelSymmetric: {
      if (!scale)
        return Coordinate::rational(__int128(2 * o + 1) * in - out, 2 * out);
      double adjustment = double(out) / (*scale * double(in));
      double offset = double(in) / 2 * (1 - adjustment);
      return Coordinate::real(offset + (double(o) + 0.5) / *scale - 0.5);
    }
    case CoordinateMode::TfHalfPixelForNn:
      if (scale)
        return Coordinate::real((double(o) + 0.5) / *scale);
      return Coordinate::rational(__int128(2 * o + 1) * in, 2 * out);
    case CoordinateMode::Asymmetric:
      if (scale)
        return Coordinate::real(double(o) / *scale);
      return Coordinate::rational(__int128(o) * in, out);
    case CoordinateMode::AlignCorners: {
      if (!scale)
        return out == 1 ? Coordinate()
                        : Coordinate::rational(__int128(o) * (in - 1), out - 1);
      // ONNX divides by the length before it is rounded down.
      double length = *scale * double(in);
      return length == 1
                 ? Coordinate()
                 : Coordinate::real(double(o) * double(in - 1) / (length - 1));
    }
    case CoordinateMode::TfCropAndResize: {
      double last = double(in - 1);
      double length = scale ? *scale * double(in) : double(out);
      double x = length == 1 ? (start + end) * last / 2
                             : start * last + double(o) * (end - start) * last /
                                                  (length - 1);
      Coordinate c = Coordinate::real(x);
      c.outside = x < 0 || x > last;
      return c;
    }
    }
    __builtin_unreachable();
  }
};

int64_t nearest(const Coordinate &c, NearestMode mode, int64_t size) {
  bool up = false;
  switch (mode) {
  case NearestMode::RoundPreferFloor:
    up = c.fraction > 0.5 && !c.tie;
    break;
  case NearestMode::RoundPreferCeil:
    up = c.fraction > 0.5 || c.tie;
    break;
  case NearestMode::Floor:
    break;
  case NearestMode::Ceil:
    up = c.fraction > 0;
    break;
  }
  return std::clamp<int64_t>(c.whole + up, 0, size - 1);
}

double linearWeight(double distance) {
  return std::max(0.0, 1 - std::fabs(distance));
}
double cubicWeight(double distance, double a) {
  double x = std::fabs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

struct Tap {
  int64_t index;
  double weight;
};

/// Taps of one output position; they sum to one. Positions outside repeat the
/// border, or are left out with excludeOutside.
std::vector<Tap> tapsOf(const ResizeOp &op, const Axis &axis,
                        const Coordinate &c) {
  bool cubic = op.mode() == ResizeMode::Cubic;
  // Shrinking with antialias widens the kernel over all that it covers.
  double squeeze = op.antialias() ? std::min(axis.factor(), 1.0) : 1;
  int64_t reach = int64_t(std::ceil((cubic ? 2 : 1) / squeeze));
  std::vector<Tap> taps;
  double sum = 0;
  for (int64_t i = 1 - reach; i <= reach; i++) {
    double distance = (double(i) - c.fraction) * squeeze;
    double weight = cubic ? cubicWeight(distance, op.cubicCoefficient())
                          : linearWeight(distance);
    int64_t at = c.whole + i, inside = std::clamp<int64_t>(at, 0, axis.in - 1);
    if (weight == 0 || (op.excludeOutside() && at != inside))
      continue;
    taps.push_back({inside, weight});
    sum += weight;
  }
  if (op.excludeOutside() || op.antialias())
    for (Tap &tap : taps)
      tap.weight /= sum;
  return taps;
}

/// Resamples one dimension of f64 data; the others stay.
std::vector<double> resample(const ResizeOp &op, llvm::ArrayRef<double> from,
                             llvm::ArrayRef<int64_t> shape, int64_t d,
                             const Axis &axis) {
  AxisView view(shape, d);
  std::vector<double> to(view.outer * axis.out * view.inner);
  for (int64_t o = 0; o < axis.out; o++) {
    Coordinate c = axis.at(o);
    std::vector<Tap> taps = tapsOf(op, axis, c);
    for (int64_t row = 0; row < view.outer; row++) {
      double *out = &to[(row * axis.out + o) * view.inner];
      if (c.outside) {
        std::fill(out, out + view.inner, op.extrapolation());
        continue;
      }
      for (const Tap &tap : taps) {
        const double *in = &from[(row * view.size + tap.index) * view.inner];
        for (int64_t i = 0; i < view.inner; i++)
          out[i] += tap.weight * in[i];
      }
    }
  }
  return to;
}

Tensor resizeNearest(const Context &c, const ResizeOp &op,
                     llvm::ArrayRef<Axis> axes, llvm::ArrayRef<int64_t> sizes) {
  const Tensor &x = c.input(0);
  Index strides = rowMajorStrides(x.shape());
  std::vector<Index> tables(axes.size());
  for (size_t d = 0; d < axes.size(); d++)
    for (int64_t o = 0; o < axes[d].out; o++) {
      Coordinate at = axes[d].at(o);
      tables[d].push_back(at.outside ? kNoElement
                                     : nearest(at, op.nearest(), axes[d].in) *
                                           strides[d]);
    }
  Tensor fill(x.element(), {});
  if (isFloat(x.element()))
    fill.setFloat(0, op.extrapolation());
  else
    fill.setInt(0, scalar::cast<int64_t>(op.extrapolation()));
  return copyThrough(x, sizes, tables, &fill);
}

} // namespace

Expected<Tensors> evaluateResize(const Context &c) {
  auto op = llvm::cast<ResizeOp>(&c.op);
  const Tensor &x = c.input(0);
  Expected<Index> sizes = c.values(op.sizes());
  if (!sizes)
    return sizes.takeError();
  std::vector<Axis> axes;
  for (int64_t d = 0; d < x.rank(); d++) {
    Axis axis{op.coordinates(), x.shape()[d], (*sizes)[d], std::nullopt};
    if (!op.scales().empty())
      axis.scale = op.scales()[d];
    if (!op.roi().empty()) {
      axis.start = op.roi()[d];
      axis.end = op.roi()[d + x.rank()];
    }
    if (axis.in == 0 && axis.out != 0)
      return c.error("cannot resize an empty dimension: " +
                     shapeText(x.shape()) + " to " + shapeText(*sizes));
    axes.push_back(axis);
  }
  if (op.mode() == ResizeMode::Nearest)
    return Tensors{resizeNearest(c, op, axes, *sizes)};
  std::vector<double> values(x.elements());
  for (int64_t i = 0; i < x.elements(); i++)
    values[i] = isFloat(x.element()) ? x.floatAt(i) : double(x.intAt(i));
  Index shape = x.shape();
  for (int64_t d = 0; d < x.rank(); d++) {
    bool same = axes[d].in == axes[d].out && axes[d].factor() == 1 &&
                op.coordinates() != CoordinateMode::TfCropAndResize;
    if (same)
      continue;
    values = resample(op, values, shape, d, axes[d]);
    shape[d] = axes[d].out;
  }
  Tensor result(x.element(), shape);
  dispatch(x.element(), [&](auto tag) {
    using T = decltype(tag);
    T *to = result.as<T>();
    for (size_t i = 0; i < values.size(); i++)
      to[i] = scalar::cast<T>(values[i]);
  });
  return Tensors{result};
}

} // namespace dlc::reference
