// SPDX-License-Identifier: Apache-2.0
// Exchange within a warp: lane_id(), warp_id(), shfl_xor(v, mask),
// shfl(v, lane), shfl_down(v, by), ballot(p). T is any trivially copyable
// type; all 32 lanes take part.
#pragma once
#include "dlc/types.cuh"
#ifdef DLC_HOST
#include "dlc/host/shuffle.h"
#else
namespace dlc::dev {
DLC_DEVICE int lane_id() { return int(threadIdx.x & 31); }
DLC_DEVICE int warp_id() {
  return __shfl_sync(0xffffffffu, int(threadIdx.x / 32), 0);
}
template <class T, class F> DLC_DEVICE T shfl_words(T v, F f) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  union U {
    uint32_t w[kWords];
    T t;
    DLC_DEVICE U() {}
  } u;
  u.t = v;
  DLC_UNROLL
  for (int i = 0; i < kWords; i++)
    u.w[i] = f(u.w[i]);
  return u.t;
}
template <class T> DLC_DEVICE T shfl_xor(T v, int mask) {
  return shfl_words(
      v, [=](uint32_t w) { return __shfl_xor_sync(0xffffffffu, w, mask); });
}
template <class T> DLC_DEVICE T shfl(T v, int lane) {
  return shfl_words(
      v, [=](uint32_t w) { return __shfl_sync(0xffffffffu, w, lane); });
}
template <class T> DLC_DEVICE T shfl_down(T v, int by) {
  return shfl_words(
      v, [=](uint32_t w) { return __shfl_down_sync(0xffffffffu, w, by); });
}
DLC_DEVICE uint32_t ballot(bool p) { return __ballot_sync(0xffffffffu, p); }
} // namespace dlc::dev
#endif
