// SPDX-License-Identifier: Apache-2.0
// Maxima of two 16-bit floating-point elements in a register: maximum2<T>(a, b)
// (a NaN wins), lowest2<T>() (two infinities below zero).
#pragma once
#include "dlc/types.cuh"

namespace dlc::dev {
template <class T> DLC_DEVICE uint32_t lowest2() {
  static_assert(kIs16<T>);
  return kSame<T, half_t> ? 0xFC00FC00u : 0xFF80FF80u;
}
#if !defined(DLC_HOST) && __CUDA_ARCH__ >= 800
template <class T> DLC_DEVICE uint32_t maximum2(uint32_t a, uint32_t b) {
  uint32_t r;
  if constexpr (kSame<T, half_t>)
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  else
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
#else
template <class T> DLC_DEVICE uint32_t maximum2(uint32_t a, uint32_t b) {
  auto larger = [](uint32_t x, uint32_t y) {
    const float fx = to_float(T{uint16_t(x)}), fy = to_float(T{uint16_t(y)});
    return fx > fy || fx != fx ? x : y;
  };
  return larger(a & 0xFFFFu, b & 0xFFFFu) | larger(a >> 16, b >> 16) << 16;
}
#endif
} // namespace dlc::dev
