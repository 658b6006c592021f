// SPDX-License-Identifier: Apache-2.0
// Reductions over a warp and a block.
//
//   warp_reduce<Op>(v)            over 32 lanes, the result in all of them
//   warp_reduce<Op, W>(v)         over groups of W lanes (a power of two)
//   block_reduce<Op>(v, smem)     over the block, the result in all threads;
//                                 smem: block_reduce_bytes<T> bytes of shared
//                                 memory, may be reused at once
//
// T is any trivially copyable type, Op has `static T apply(T a, T b)`, is
// commutative and associative up to rounding. The order is fixed (xor 16, 8,
// .. 1, then warps in order), so results do not vary from run to run. Every
// thread of the warp (block) must call. ReduceSum, ReduceProd, ReduceMax and
// ReduceMin are ready made; Max and Min propagate NaN.
#pragma once
#include "dlc/ptx/barrier.cuh"
#include "dlc/ptx/shuffle.cuh"

namespace dlc::dev {
struct ReduceSum {
  template <class T> static DLC_DEVICE T apply(T a, T b) { return T(a + b); }
};
struct ReduceProd {
  template <class T> static DLC_DEVICE T apply(T a, T b) { return T(a * b); }
};
struct ReduceMax {
  template <class T> static DLC_DEVICE T apply(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct ReduceMin {
  template <class T> static DLC_DEVICE T apply(T a, T b) {
    return a < b || a != a ? a : b;
  }
};
#ifdef DLC_HOST
// One rendezvous in place of five, with the same bits.
template <class Op, int W = 32, class T> DLC_DEVICE T warp_reduce(T v) {
  struct A {
    T v;
  } a{v};
  ::dlc::host::engine->warpCollective(
      ~0u,
      [](void *const *l, uint32_t mask) {
        if (mask != ~0u)
          ::dlc::host::engine->fail("warp_reduce by an incomplete warp");
        T x[32], y[32];
        for (int i = 0; i < 32; i++)
          x[i] = static_cast<A *>(l[i])->v;
        for (int d = W / 2; d; d >>= 1) {
          for (int i = 0; i < 32; i++)
            y[i] = Op::apply(x[i], x[i ^ d]);
          for (int i = 0; i < 32; i++)
            x[i] = y[i];
        }
        for (int i = 0; i < 32; i++)
          static_cast<A *>(l[i])->v = x[i];
      },
      &a);
  return a.v;
}
#else
template <class Op, int W = 32, class T> DLC_DEVICE T warp_reduce(T v) {
  DLC_UNROLL
  for (int d = W / 2; d; d >>= 1)
    v = Op::apply(v, shfl_xor(v, d));
  return v;
}
#endif
template <class T>
inline constexpr int block_reduce_bytes = 32 * int(sizeof(T));

template <class Op, class T> DLC_DEVICE T block_reduce(T v, void *smem) {
  T *part = static_cast<T *>(smem);
  const int warps = int(blockDim.x + 31) / 32;
  v = warp_reduce<Op>(v);
  if (warps == 1)
    return v;
  if (lane_id() == 0)
    part[threadIdx.x / 32] = v;
  sync_block();
  v = part[0];
  for (int w = 1; w < warps; w++)
    v = Op::apply(v, part[w]);
  sync_block();
  return v;
}
} // namespace dlc::dev
