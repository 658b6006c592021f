// SPDX-License-Identifier: Apache-2.0
// Running sums and products along one axis (CumSum, CumProd). One warp per row:
// 32 elements at a time, scanned across the lanes, with the carry of those
// before. The order of additions is fixed.
//
//   struct Problem {
//     using T = float;
//     using Index = int32_t;
//     using Combine = ReduceSum;            // or ReduceProd
//     static constexpr bool kExclusive = false, kReverse = false;
//     static Index outer(const P &), length(const P &), inner(const P &);
//     static const T *input(const P &);     // [outer][length][inner]
//     static T *result(const P &);          // the same
//   };
//   cumulative<Problem>(p);
#pragma once
#include "dlc/kernel.cuh"
#include "dlc/reduce.cuh"

namespace dlc::dev {
template <class Problem, class P> DLC_DEVICE void cumulative(const P &p) {
  using Index = typename Problem::Index;
  using T = typename Problem::T;
  using V = Compute<T>;
  using Combine = typename Problem::Combine;
  constexpr V kNeutral = kSame<Combine, ReduceSum> ? V(0) : V(1);
  pdl_wait();
  const Index length = Problem::length(p), inner = Problem::inner(p);
  const Index rows = Problem::outer(p) * inner;
  const Index warps = Index(gridDim.x) * Index(blockDim.x / 32);
  const int lane = int(threadIdx.x % 32);
  for (Index row = Index(blockIdx.x) * Index(blockDim.x / 32) +
                   Index(threadIdx.x / 32);
       row < rows; row += warps) {
    const Index base = row / inner * length * inner + row % inner;
    V carry = kNeutral;
    for (Index start = 0; start < length; start += 32) {
      const Index j = start + lane;
      const Index at =
          base + (Problem::kReverse ? length - 1 - j : j) * inner;
      V v = j < length ? convert<V>(ld(Problem::input(p), at)) : kNeutral;
      for (int d = 1; d < 32; d *= 2) {
        const V left = shfl(v, lane >= d ? lane - d : lane);
        if (lane >= d)
          v = Combine::apply(left, v);
      }
      const V before = shfl(v, lane > 0 ? lane - 1 : 0);
      const V total = shfl(v, 31);
      const V mine = Problem::kExclusive ? (lane > 0 ? before : kNeutral) : v;
      if (j < length)
        st(Problem::result(p), at, convert<T>(Combine::apply(carry, mine)));
      carry = Combine::apply(carry, total);
    }
  }
  pdl_launch();
}
} // namespace dlc::dev
