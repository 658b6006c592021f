// SPDX-License-Identifier: Apache-2.0
// Tensor cores of one warp: mma_tile<T, MT, NT>(d, a, b), D[16 MT][8 NT] +=
// A[16 MT][k] B[k][8 NT] with k = 32 bytes of operand: 16 of half_t or bf16_t,
// 8 of float (as tf32, rounded here), 32 of int8_t (int32 accumulators).
//
// Fragments (l = lane): a[i][r] holds row l / 4 + 8 (r & 1), bytes 4 (l % 4) +
// 16 (r >> 1); b[j][r] column l / 4, bytes 4 (l % 4) + 16 r; d[i][j][e] row
// l / 4 + 8 (e >> 1), column 2 (l % 4) + (e & 1).
//
// half_t from sm_75 (two m16n8k8), the others from sm_80.
#pragma once
#include "dlc/types.cuh"

namespace dlc::dev {
/// The accumulator's type for an operand type.
template <class T> struct MmaAcc {
  using Type = float;
};
template <> struct MmaAcc<int8_t> {
  using Type = int32_t;
};
#ifdef DLC_HOST
DLC_DEVICE uint32_t round_tf32(uint32_t x) { // to nearest, ties away
  return (x & 0x7f800000u) == 0x7f800000u ? x : (x + 0x1000u) & ~0x1fffu;
}
namespace twin {
template <class T> constexpr ::dlc::host::Kind mmaKind() {
  return kSame<T, half_t>   ? ::dlc::host::F16
         : kSame<T, bf16_t> ? ::dlc::host::BF16
         : kSame<T, float>  ? ::dlc::host::TF32
                            : ::dlc::host::S8;
}
} // namespace twin
template <class T, int MT, int NT>
DLC_DEVICE void mma_tile(typename MmaAcc<T>::Type (&d)[MT][NT][4],
                         const uint32_t (&a)[MT][4],
                         const uint32_t (&b)[NT][2]) {
  ::dlc::host::engine->mma(twin::mmaKind<T>(), MT, NT, d, a[0], b[0]);
}
#else
DLC_DEVICE uint32_t round_tf32(uint32_t x) {
  uint32_t r;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__int_as_float(int(x))));
#else
  r = x;
#endif
  return r;
}
#define DLC_MMA(shape, types, acc)                                             \
  asm volatile("mma.sync.aligned." shape ".row.col." types                     \
               " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"        \
               : acc(d[0]), acc(d[1]), acc(d[2]), acc(d[3])                    \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),        \
                 "r"(b[1]))
template <class T>
DLC_DEVICE void mma(typename MmaAcc<T>::Type (&d)[4], const uint32_t (&a)[4],
                    const uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kSame<T, half_t>)
    DLC_MMA("m16n8k16", "f32.f16.f16.f32", "+f");
  else if constexpr (kSame<T, bf16_t>)
    DLC_MMA("m16n8k16", "f32.bf16.bf16.f32", "+f");
  else if constexpr (kSame<T, float>)
    DLC_MMA("m16n8k8", "f32.tf32.tf32.f32", "+f");
  else
    DLC_MMA("m16n8k32", "s32.s8.s8.s32", "+r");
#else
  static_assert(kSame<T, half_t>, "below sm_80 only half_t");
  DLC_UNROLL
  for (int h = 0; h < 2; h++)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[2 * h]), "r"(a[2 * h + 1]), "r"(b[h]));
#endif
}
#undef DLC_MMA
template <class T, int MT, int NT>
DLC_DEVICE void mma_tile(typename MmaAcc<T>::Type (&d)[MT][NT][4],
                         const uint32_t (&a)[MT][4],
                         const uint32_t (&b)[NT][2]) {
  DLC_UNROLL
  for (int i = 0; i < MT; i++)
    DLC_UNROLL
  for (int j = 0; j < NT; j++)
    mma<T>(d[i][j], a[i], b[j]);
}
#endif
} // namespace dlc::dev
