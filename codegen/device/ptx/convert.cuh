// SPDX-License-Identifier: Apache-2.0
// Conversions between float and the 16-bit types: to_float, from_float,
// pack2<T>(lo, hi) (two rounded elements in one register).
#pragma once
#ifdef DLC_HOST
#include "dlc/host/convert.h"
#else
namespace dlc::dev {
DLC_DEVICE float to_float(half_t h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
}
DLC_DEVICE float to_float(bf16_t h) {
  return __int_as_float(int(uint32_t(h.bits) << 16));
}
DLC_DEVICE float to_float(float f) { return f; }
template <class T> DLC_DEVICE T from_float(float f);
template <> DLC_DEVICE float from_float<float>(float f) { return f; }
template <> DLC_DEVICE half_t from_float<half_t>(float f) {
  half_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));
  return h;
}
template <> DLC_DEVICE bf16_t from_float<bf16_t>(float f) {
  bf16_t h;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(f));
#else
  uint32_t u = uint32_t(__float_as_int(f));
  h.bits = f != f ? uint16_t(0x7fff)
                  : uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
#endif
  return h;
}
template <class T> DLC_DEVICE uint32_t pack2(float lo, float hi) {
  return from_float<T>(lo).bits | uint32_t(from_float<T>(hi).bits) << 16;
}
template <> DLC_DEVICE uint32_t pack2<half_t>(float lo, float hi) {
  uint32_t r;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(r) : "f"(lo), "f"(hi));
#else
  r = from_float<half_t>(lo).bits | uint32_t(from_float<half_t>(hi).bits) << 16;
#endif
  return r;
}
} // namespace dlc::dev
#endif
