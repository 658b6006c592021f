// SPDX-License-Identifier: Apache-2.0
// ScatterElements and ScatterND, each output element once: it looks for the
// updates that land on it, in row-major order, so that the last one wins and
// floating-point sums are the same on every run. No atomics, no workspace.
//
//   struct Problem {
//     using T = float;               // data and updates
//     using I = int64_t;             // indices
//     using Index = int32_t;
//     struct Combine { static V apply(V old, V update); };   // V = Compute<T>
//     static const T *input(const P &), *updates(const P &);
//     static const I *indices(const P &);
//     static T *result(const P &);
//     static Index size(const P &);  // elements of data
//   // scatter_elements: data [outer][length][inner] by coordinates
//     static constexpr int kRank, kAxis;
//     static Index dim(const P &, int d), indexDim(const P &, int d);
//   // scatter_nd: data [slots][slice], indices [tuples][depth]
//     static constexpr int kDepth;
//     static Index dim(const P &, int d);              // d < kDepth
//     static Index tuples(const P &), slice(const P &);
//   };
#pragma once
#include "dlc/kernel.cuh"

namespace dlc::dev {
/// Replaces: what scatter without a reduction does.
struct ScatterReplace {
  template <class V> static DLC_DEVICE V apply(V, V update) { return update; }
};

template <class Problem, class P> DLC_DEVICE void scatter_elements(const P &p) {
  using Index = typename Problem::Index;
  using T = typename Problem::T;
  using V = Compute<T>;
  constexpr int kRank = Problem::kRank, kAxis = Problem::kAxis;
  pdl_wait();
  for_each_index<1, Index>(Problem::size(p), [&](Index e) {
    Index coordinate[kRank], rest = e;
    for (int d = kRank - 1; d >= 0; d--) {
      coordinate[d] = rest % Problem::dim(p, d);
      rest /= Problem::dim(p, d);
    }
    V v = convert<V>(ld(Problem::input(p), e));
    bool covered = true;
    Index first = 0, step = 1; // where along the axis begins, and its stride
    for (int d = 0; d < kRank; d++) {
      first *= Problem::indexDim(p, d);
      if (d > kAxis)
        step *= Problem::indexDim(p, d);
      if (d == kAxis)
        continue;
      covered &= coordinate[d] < Problem::indexDim(p, d);
      first += coordinate[d];
    }
    const Index length = Problem::dim(p, kAxis);
    if (covered)
      for (Index j = 0; j < Problem::indexDim(p, kAxis); j++) {
        const Index at = first + j * step;
        int64_t target = int64_t(ld(Problem::indices(p), at));
        if (target < 0)
          target += length;
        if (target == coordinate[kAxis])
          v = Problem::Combine::apply(
              v, convert<V>(ld(Problem::updates(p), at)));
      }
    st(Problem::result(p), e, convert<T>(v));
  });
  pdl_launch();
}

template <class Problem, class P> DLC_DEVICE void scatter_nd(const P &p) {
  using Index = typename Problem::Index;
  using T = typename Problem::T;
  using V = Compute<T>;
  constexpr int kDepth = Problem::kDepth;
  pdl_wait();
  const Index slice = Problem::slice(p), tuples = Problem::tuples(p);
  for_each_index<1, Index>(Problem::size(p), [&](Index e) {
    const Index slot = e / slice, within = e % slice;
    V v = convert<V>(ld(Problem::input(p), e));
    for (Index t = 0; t < tuples; t++) {
      Index target = 0;
      bool inside = true;
      for (int d = 0; d < kDepth; d++) {
        const Index extent = Problem::dim(p, d);
        int64_t i = int64_t(ld(Problem::indices(p), t * kDepth + d));
        if (i < 0)
          i += extent;
        inside &= i >= 0 && i < extent;
        target = target * extent + (inside ? Index(i) : 0);
      }
      if (inside && target == slot)
        v = Problem::Combine::apply(
            v, convert<V>(ld(Problem::updates(p), t * slice + within)));
    }
    st(Problem::result(p), e, convert<T>(v));
  });
  pdl_launch();
}
} // namespace dlc::dev
