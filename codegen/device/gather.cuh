// SPDX-License-Identifier: Apache-2.0
// Gathers whose index has the data's rank, or is a tuple. An index that counts
// from the end is normalised; one out of range reads zero.
//
//   struct Problem {
//     using T = half_t;              // data, moved as it is
//     using I = int64_t;             // indices
//     using Index = int32_t;
//     static const T *input(const P &);
//     static const I *indices(const P &);
//     static T *result(const P &);
//     static Index size(const P &);  // elements of the result
//   // gather_elements
//     static constexpr int kRank, kAxis;
//     static Index dim(const P &, int d), indexDim(const P &, int d);
//   // gather_nd: indices [batch][tuples][depth], data [batch][dims..][slice]
//     static constexpr int kDepth;
//     static Index tuples(const P &), slice(const P &), dim(const P &, int d);
//   };
#pragma once
#include "dlc/kernel.cuh"

namespace dlc::dev {
/// The index, counted from the front; -1 when it is out of range.
template <class I> DLC_DEVICE int64_t normal_index(I index, int64_t extent) {
  int64_t i = int64_t(index);
  if (i < 0)
    i += extent;
  return i < 0 || i >= extent ? -1 : i;
}

template <class Problem, class P> DLC_DEVICE void gather_elements(const P &p) {
  using Index = typename Problem::Index;
  using T = typename Problem::T;
  pdl_wait();
  for_each_index<1, Index>(Problem::size(p), [&](Index e) {
    Index rest = e, from = 0, stride = 1;
    bool inside = true;
    for (int d = Problem::kRank - 1; d >= 0; d--) {
      int64_t c = rest % Problem::indexDim(p, d);
      rest /= Problem::indexDim(p, d);
      if (d == Problem::kAxis) {
        c = normal_index(ld(Problem::indices(p), e), Problem::dim(p, d));
        inside = c >= 0;
      }
      from += Index(c) * stride;
      stride *= Problem::dim(p, d);
    }
    st(Problem::result(p), e, inside ? ld(Problem::input(p), from) : T{});
  });
  pdl_launch();
}

template <class Problem, class P> DLC_DEVICE void gather_nd(const P &p) {
  using Index = typename Problem::Index;
  using T = typename Problem::T;
  constexpr int kDepth = Problem::kDepth;
  pdl_wait();
  const Index slice = Problem::slice(p), tuples = Problem::tuples(p);
  for_each_index<1, Index>(Problem::size(p), [&](Index e) {
    const Index tuple = e / slice; // of all batches
    Index from = tuple / tuples;   // the batch
    bool inside = true;
    for (int d = 0; d < kDepth; d++) {
      const Index extent = Problem::dim(p, d);
      const int64_t i =
          normal_index(ld(Problem::indices(p), tuple * kDepth + d), extent);
      inside &= i >= 0;
      from = from * extent + Index(i);
    }
    st(Problem::result(p), e,
       inside ? ld(Problem::input(p), from * slice + e % slice) : T{});
  });
  pdl_launch();
}
} // namespace dlc::dev
