// SPDX-License-Identifier: Apache-2.0
// Resize: each result element is a weighted sum of input elements, a product of
// one-dimensional filters. Coordinates are exact rationals where sizes were
// given, so that ties follow the nearest mode to the letter.
//
//   struct Problem {
//     using T = half_t;
//     using Index = int32_t;
//     static constexpr int kRank = 4;        // dimensions of the tensor
//     static constexpr ResizeFilter kFilter = ResizeFilter::Linear;
//     static constexpr ResizeCoordinates kCoordinates = ...;
//     static constexpr ResizeNearest kNearest = ...;
//     static constexpr bool kExcludeOutside = false, kAntialias = false;
//     static constexpr double kCubic = -0.75, kExtrapolation = 0;
//     static constexpr bool kExact = true;   // scale(d) is sizes / input
//     static constexpr bool resized(int d);  // others are copied
//     static double scale(int d);            // used when not kExact
//     static double roiStart(int d), roiEnd(int d);      // tf_crop_and_resize
//     static Index in(const P &, int d), out(const P &, int d);
//     static Index size(const P &);          // elements of the result
//     static void decode(const P &, Index e, Index (&c)[kRank]);  // by layout
//     static Index offset(const P &, const Index (&c)[kRank]);    // of the input
//     static const T *input(const P &);
//     static T *result(const P &);           // element e in memory
//   };
//   resize<Problem>(p);
#pragma once
#include "dlc/fusion.cuh"

namespace dlc::dev {
enum class ResizeFilter { Nearest, Linear, Cubic };
enum class ResizeCoordinates {
  HalfPixel,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  TfHalfPixelForNn,
  TfCropAndResize
};
enum class ResizeNearest { RoundPreferFloor, RoundPreferCeil, Floor, Ceil };

/// A coordinate in the input: num / den, or a double.
struct ResizePoint {
  int64_t num, den; ///< den 0: `value` holds it
  double value;
};

template <class Problem, class P>
DLC_DEVICE ResizePoint resize_point(const P &p, int d, int64_t i) {
  using C = ResizeCoordinates;
  constexpr C kind = Problem::kCoordinates;
  const int64_t in = Problem::in(p, d), out = Problem::out(p, d);
  if constexpr (kind == C::AlignCorners) {
    if (Problem::kExact)
      return out == 1 ? ResizePoint{0, 1, 0}
                      : ResizePoint{i * (in - 1), out - 1, 0};
    const double length = Problem::scale(d) * double(in);
    return {0, 0, length == 1 ? 0. : double(i) * double(in - 1) / (length - 1)};
  }
  if constexpr (kind == C::TfCropAndResize) {
    const double start = Problem::roiStart(d), end = Problem::roiEnd(d);
    const double span = double(in - 1);
    return {0, 0,
            out > 1 ? start * span + double(i) * (end - start) * span /
                                         double(out - 1)
                    : 0.5 * (start + end) * span};
  }
  if constexpr (kind == C::PytorchHalfPixel)
    if (out == 1)
      return {0, 1, 0};
  constexpr bool half = kind != C::Asymmetric;
  constexpr bool back = half && kind != C::TfHalfPixelForNn;
  if constexpr (Problem::kExact)
    return {(half ? 2 * i + 1 : 2 * i) * in - (back ? out : 0), 2 * out, 0};
  const double scale = Problem::scale(d);
  double x = (double(i) + (half ? 0.5 : 0.)) / scale - (back ? 0.5 : 0.);
  if constexpr (kind == C::HalfPixelSymmetric) {
    const double adjustment = double(out) / (scale * double(in));
    x += double(in) / 2 * (1 - adjustment);
  }
  return {0, 0, x};
}

DLC_DEVICE int64_t resize_floor(const ResizePoint &x) {
  return x.den ? floor_div(x.num, x.den) : int64_t(scalar::floor(x.value));
}

template <ResizeNearest mode>
DLC_DEVICE int64_t resize_nearest(const ResizePoint &x) {
  using N = ResizeNearest;
  if (!x.den) {
    if constexpr (mode == N::RoundPreferFloor)
      return int64_t(scalar::ceil(x.value - 0.5));
    if constexpr (mode == N::RoundPreferCeil)
      return int64_t(scalar::floor(x.value + 0.5));
    if constexpr (mode == N::Floor)
      return int64_t(scalar::floor(x.value));
    return int64_t(scalar::ceil(x.value));
  }
  if constexpr (mode == N::RoundPreferFloor)
    return -floor_div(x.den - 2 * x.num, 2 * x.den);
  if constexpr (mode == N::RoundPreferCeil)
    return floor_div(2 * x.num + x.den, 2 * x.den);
  if constexpr (mode == N::Floor)
    return floor_div(x.num, x.den);
  return -floor_div(-x.num, x.den);
}

/// Filter at distance x from its centre: a triangle or Keys' cubic.
template <ResizeFilter filter> DLC_DEVICE double resize_kernel(double x, double a) {
  const double t = x < 0 ? -x : x;
  if constexpr (filter == ResizeFilter::Linear)
    return t < 1 ? 1 - t : 0.;
  if (t <= 1)
    return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0.;
}

/// Sums over the taps of dimensions d and up.
template <class Problem, int d> struct ResizeSum {
  using Index = typename Problem::Index;
  template <class P>
  static DLC_DEVICE double run(const P &p, const Index (&at)[Problem::kRank],
                               Index (&from)[Problem::kRank], bool &outside) {
    if constexpr (d == Problem::kRank) {
      return double(
          convert<Compute<typename Problem::T>>(ld(Problem::input(p),
                                                   Problem::offset(p, from))));
    } else if constexpr (!Problem::resized(d)) {
      from[d] = at[d];
      return ResizeSum<Problem, d + 1>::run(p, at, from, outside);
    } else {
      const int64_t in = Problem::in(p, d);
      const ResizePoint x = resize_point<Problem>(p, d, at[d]);
      auto clamp = [in](int64_t i) {
        return Index(i < 0 ? 0 : i >= in ? in - 1 : i);
      };
      if constexpr (Problem::kCoordinates == ResizeCoordinates::TfCropAndResize)
        outside |= x.value < 0 || x.value > double(in - 1);
      if constexpr (Problem::kFilter == ResizeFilter::Nearest) {
        from[d] = clamp(resize_nearest<Problem::kNearest>(x));
        return ResizeSum<Problem, d + 1>::run(p, at, from, outside);
      } else {
        const int64_t base = resize_floor(x);
        const double fraction =
            x.den ? double(x.num - base * x.den) / double(x.den)
                  : x.value - double(base);
        const double scale =
            Problem::kExact ? double(Problem::out(p, d)) / double(in)
                            : Problem::scale(d);
        const double shrink = Problem::kAntialias && scale < 1 ? scale : 1;
        const double support =
            (Problem::kFilter == ResizeFilter::Linear ? 1. : 2.) / shrink;
        const int64_t reach = int64_t(scalar::ceil(support));
        double sum = 0, weights = 0;
        for (int64_t t = 1 - reach; t <= reach; t++) {
          double w = resize_kernel<Problem::kFilter>(
              (double(t) - fraction) * shrink, Problem::kCubic);
          if (Problem::kExcludeOutside && (base + t < 0 || base + t >= in))
            w = 0;
          weights += w;
          if (w == 0)
            continue;
          from[d] = clamp(base + t);
          sum += w * ResizeSum<Problem, d + 1>::run(p, at, from, outside);
        }
        return Problem::kExcludeOutside || Problem::kAntialias ? sum / weights
                                                               : sum;
      }
    }
  }
};

template <class Problem, class P> DLC_DEVICE void resize(const P &p) {
  using Index = typename Problem::Index;
  using T = typename Problem::T;
  pdl_wait();
  for_each_index<1, Index>(Problem::size(p), [&](Index e) {
    Index at[Problem::kRank], from[Problem::kRank];
    Problem::decode(p, e, at);
    bool outside = false;
    const double v = ResizeSum<Problem, 0>::run(p, at, from, outside);
    using V = Compute<T>;
    st(Problem::result(p), e,
       convert<T>(scalar::cast<V>(outside ? Problem::kExtrapolation : v)));
  });
  pdl_launch();
}
} // namespace dlc::dev
