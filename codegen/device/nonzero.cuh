// SPDX-License-Identifier: Apache-2.0
// NonZero: the coordinates of the elements that are not zero, in row-major
// order, and their number in a device cell. One block: it counts, then writes,
// since a coordinate's place depends on the count ([rank][count]).
//
//   struct Problem {
//     using T = float;
//     using Index = int32_t;
//     static constexpr int kRank = 3;
//     static Index dim(const P &, int d), size(const P &);
//     static const T *input(const P &);
//     static int64_t *result(const P &);   // [kRank][count], room for [kRank][size]
//     static int64_t *count(const P &);    // one element
//   };
//   nonzero<Problem>(p, smem);   // one block; smem: 64 of int64_t
#pragma once
#include "dlc/kernel.cuh"
#include "dlc/reduce.cuh"

namespace dlc::dev {
/// Sum of `v` over the threads before this one; `total` of all of the block.
DLC_DEVICE int64_t block_prefix(int64_t v, int64_t *part, int64_t &total) {
  const int lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
  const int warps = int(blockDim.x + 31) / 32;
  int64_t sum = v;
  for (int d = 1; d < 32; d *= 2) {
    const int64_t left = shfl(sum, lane >= d ? lane - d : lane);
    if (lane >= d)
      sum += left;
  }
  if (lane == 31)
    part[warp] = sum;
  sync_block();
  int64_t before = 0;
  total = 0;
  for (int w = 0; w < warps; w++) {
    if (w < warp)
      before += part[w];
    total += part[w];
  }
  sync_block();
  return before + sum - v;
}

template <class Problem, class P>
DLC_DEVICE void nonzero(const P &p, uint8_t *smem) {
  using Index = typename Problem::Index;
  constexpr int kRank = Problem::kRank;
  auto *part = reinterpret_cast<int64_t *>(smem);
  pdl_wait();
  const Index size = Problem::size(p), threads = Index(blockDim.x);
  auto isSet = [&](Index e) {
    return convert<Compute<typename Problem::T>>(ld(Problem::input(p), e)) !=
           Compute<typename Problem::T>(0);
  };
  int64_t mine = 0;
  for (Index e = Index(threadIdx.x); e < size; e += threads)
    mine += isSet(e);
  const int64_t count = block_reduce<ReduceSum>(mine, part);
  int64_t done = 0;
  for (Index start = 0; start < size; start += threads) {
    const Index e = start + Index(threadIdx.x);
    const bool set = e < size && isSet(e);
    int64_t found;
    const int64_t place = done + block_prefix(set, part, found);
    if (set) {
      Index rest = e;
      for (int d = kRank - 1; d >= 0; d--) {
        st(Problem::result(p), d * count + place,
           int64_t(rest % Problem::dim(p, d)));
        rest /= Problem::dim(p, d);
      }
    }
    done += found;
  }
  if (threadIdx.x == 0)
    st(Problem::count(p), 0, count);
  pdl_launch();
}
} // namespace dlc::dev
