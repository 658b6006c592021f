// SPDX-License-Identifier: Apache-2.0
// ArgMax and ArgMin: the index of the first element in the order of order.cuh
// along one axis. One warp per row.
//
//   struct Problem {
//     using T = half_t;             // element in memory
//     using Index = int32_t;
//     static constexpr bool kLargest = true, kSelectLast = false;
//     static Index outer(const P &), length(const P &), inner(const P &);
//     static const T *input(const P &);    // [outer][length][inner]
//     static int64_t *result(const P &);   // [outer][inner]
//   };
//   arg_reduce<Problem>(p);   // any grid; 8 rows a block of 256 fill it
#pragma once
#include "dlc/order.cuh"

namespace dlc::dev {
template <class Problem, class P> DLC_DEVICE void arg_reduce(const P &p) {
  using Index = typename Problem::Index;
  using V = Compute<typename Problem::T>;
  using First = Earlier<Problem::kLargest, Problem::kSelectLast>;
  pdl_wait();
  const Index length = Problem::length(p), inner = Problem::inner(p);
  const Index rows = Problem::outer(p) * inner;
  const Index warps = Index(gridDim.x) * Index(blockDim.x / 32);
  for (Index row = Index(blockIdx.x) * Index(blockDim.x / 32) +
                   Index(threadIdx.x / 32);
       row < rows; row += warps) {
    const Index base = row / inner * length * inner + row % inner;
    Candidate<V> best{V(0), -1};
    for (Index j = Index(threadIdx.x % 32); j < length; j += 32)
      best = First::apply(
          best, {convert<V>(ld(Problem::input(p), base + j * inner)), j});
    best = warp_reduce<First>(best);
    if (threadIdx.x % 32 == 0)
      st(Problem::result(p), row, best.index);
  }
  pdl_launch();
}
} // namespace dlc::dev
