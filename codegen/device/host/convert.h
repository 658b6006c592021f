// SPDX-License-Identifier: Apache-2.0
// Host twin of ptx/convert.cuh: F16C where there is one, plain integers else.
#pragma once
#include "dlc/host/cuda.h"

namespace dlc::dev {
namespace twin {
#ifdef __F16C__
typedef float V4f __attribute__((vector_size(16)));
typedef short V8s __attribute__((vector_size(16)));
typedef short V8sU __attribute__((vector_size(16), aligned(2), may_alias));
typedef float V8fU __attribute__((vector_size(32), aligned(4), may_alias));
#endif
DLC_DEVICE float halfToFloat(uint32_t h) {
  const uint32_t sign = h << 16 & 0x80000000u, e = h >> 10 & 31, m = h & 1023;
  if (e == 31)
    return __builtin_bit_cast(float, sign | 0x7f800000u | m << 13);
  if (e)
    return __builtin_bit_cast(float, sign | (e + 112) << 23 | m << 13);
  const float f = float(m) * 0x1p-24f;
  return sign ? -f : f;
}
DLC_DEVICE uint32_t floatToHalf(float f) {
  const uint32_t u = __builtin_bit_cast(uint32_t, f), a = u & 0x7fffffffu;
  uint32_t r;
  if (a >= 0x7f800000u)
    r = a > 0x7f800000u ? 0x7e00u | (a >> 13 & 1023) : 0x7c00u;
  else if (a >= 0x477ff000u) // 65520 rounds to infinity
    r = 0x7c00u;
  else if (a < 0x38800000u) { // below 2^-14: the adder rounds
    const float s = __builtin_bit_cast(float, a) + 0.5f;
    r = __builtin_bit_cast(uint32_t, s) - 0x3f000000u;
  } else
    r = (a + 0xfff + (a >> 13 & 1) - 0x38000000u) >> 13;
  return (u >> 16 & 0x8000u) | r;
}
} // namespace twin
DLC_DEVICE float to_float(half_t h) {
#ifdef __F16C__
  const twin::V8s v = {short(h.bits), 0, 0, 0, 0, 0, 0, 0};
  return __builtin_ia32_vcvtph2ps(v)[0];
#elif defined(__aarch64__)
  return float(__builtin_bit_cast(__fp16, h.bits));
#else
  return twin::halfToFloat(h.bits);
#endif
}
DLC_DEVICE float to_float(bf16_t h) {
  return __builtin_bit_cast(float, uint32_t(h.bits) << 16);
}
DLC_DEVICE float to_float(float f) { return f; }
template <class T> DLC_DEVICE T from_float(float f);
template <> DLC_DEVICE float from_float<float>(float f) { return f; }
template <> DLC_DEVICE half_t from_float<half_t>(float f) {
#ifdef __F16C__
  const twin::V4f v = {f, 0, 0, 0};
  return {uint16_t(__builtin_ia32_vcvtps2ph(v, 0)[0])};
#elif defined(__aarch64__)
  return {__builtin_bit_cast(uint16_t, __fp16(f))};
#else
  return {uint16_t(twin::floatToHalf(f))};
#endif
}
template <> DLC_DEVICE bf16_t from_float<bf16_t>(float f) {
  const uint32_t u = __builtin_bit_cast(uint32_t, f);
  return {f != f ? uint16_t(0x7fff)
                 : uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16)};
}
template <class T> DLC_DEVICE uint32_t pack2(float lo, float hi) {
  return from_float<T>(lo).bits | uint32_t(from_float<T>(hi).bits) << 16;
}
namespace twin {
// Eight at a time: g++ 12 does not vectorise these conversions by itself.
template <class T> DLC_DEVICE void widen8(const T *p, float *out) {
#ifdef __F16C__
  if constexpr (kSame<T, half_t>) {
    *(V8fU *)out = __builtin_ia32_vcvtph2ps256(*(const V8sU *)p);
    return;
  }
#endif
  for (int i = 0; i < 8; i++)
    out[i] = to_float(p[i]);
}
template <class T> DLC_DEVICE void narrow8(const float *p, T *out) {
#ifdef __F16C__
  if constexpr (kSame<T, half_t>) {
    *(V8sU *)out = __builtin_ia32_vcvtps2ph256(*(const V8fU *)p, 0);
    return;
  }
#endif
  for (int i = 0; i < 8; i++)
    out[i] = from_float<T>(p[i]);
}
} // namespace twin
} // namespace dlc::dev
