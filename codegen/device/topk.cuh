// SPDX-License-Identifier: Apache-2.0
// TopK: the k first elements of each row in the order of order.cuh, with their
// indices. No limit on k or on the length of a row, no workspace.
//
//   struct Problem {
//     using T = float;
//     using Index = int32_t;
//     static constexpr bool kLargest = true;
//     static Index outer(const P &), length(const P &), inner(const P &), k(const P &);
//     static const T *input(const P &);    // [outer][length][inner]
//     static T *values(const P &);         // [outer][k][inner]
//     static int64_t *indices(const P &);  // [outer][k][inner]
//   };
//   topk_select<Problem>(p, smem);   // one block per row: k rounds, each finds the
//                                    // next after the last; for small k
//   topk_rank<Problem>(p);           // one thread per element, whose place is the
//                                    // number of those before it; for large k
#pragma once
#include "dlc/order.cuh"

namespace dlc::dev {
template <class Problem, class P>
DLC_DEVICE void topk_write(const P &p, typename Problem::Index row,
                           typename Problem::Index place, int64_t index) {
  using Index = typename Problem::Index;
  const Index inner = Problem::inner(p), o = row / inner, i = row % inner;
  const Index to = (o * Problem::k(p) + place) * inner + i;
  st(Problem::values(p), to,
     ld(Problem::input(p),
        (o * Problem::length(p) + Index(index)) * inner + i));
  st(Problem::indices(p), to, index);
}

/// smem: block_reduce_bytes<Candidate<Compute<T>>>.
template <class Problem, class P>
DLC_DEVICE void topk_select(const P &p, uint8_t *smem) {
  using Index = typename Problem::Index;
  using V = Compute<typename Problem::T>;
  using First = Earlier<Problem::kLargest, false, true>;
  pdl_wait();
  const Index length = Problem::length(p), inner = Problem::inner(p);
  const Index rows = Problem::outer(p) * inner, k = Problem::k(p);
  for (Index row = Index(blockIdx.x); row < rows; row += Index(gridDim.x)) {
    const Index base = row / inner * length * inner + row % inner;
    Candidate<V> last{V(0), -1};
    for (Index place = 0; place < k; place++) {
      Candidate<V> best{V(0), -1};
      for (Index j = Index(threadIdx.x); j < length; j += Index(blockDim.x)) {
        const Candidate<V> c{
            convert<V>(ld(Problem::input(p), base + j * inner)), j};
        // Taken already: the last one, and all that come before it.
        if (place > 0 && First::apply(c, last).index == c.index)
          continue;
        best = First::apply(best, c);
      }
      last = block_reduce<First>(best, smem);
      if (threadIdx.x == 0)
        topk_write<Problem>(p, row, place, last.index);
    }
  }
  pdl_launch();
}

template <class Problem, class P> DLC_DEVICE void topk_rank(const P &p) {
  using Index = typename Problem::Index;
  using V = Compute<typename Problem::T>;
  using First = Earlier<Problem::kLargest, false, true>;
  pdl_wait();
  const Index length = Problem::length(p), inner = Problem::inner(p);
  const Index total = Problem::outer(p) * length * inner, k = Problem::k(p);
  for_each_index<1, Index>(total, [&](Index e) {
    const Index i = e % inner, j = e / inner % length, o = e / inner / length;
    const Index base = o * length * inner + i;
    const Candidate<V> mine{convert<V>(ld(Problem::input(p), e)), j};
    Index place = 0;
    for (Index other = 0; other < length && place < k; other++) {
      const Candidate<V> c{
          convert<V>(ld(Problem::input(p), base + other * inner)), other};
      if (other != j && First::apply(c, mine).index == c.index)
        place++;
    }
    if (place < k)
      topk_write<Problem>(p, o * inner + i, place, j);
  });
  pdl_launch();
}
} // namespace dlc::dev
