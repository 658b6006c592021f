// SPDX-License-Identifier: Apache-2.0
// Floating point in eight bits: f8e4m3_t, f8e5m2_t. Storage only; arithmetic
// happens in float.
//
//   float(x)        exact
//   f8e4m3_t(f)     nearest, halves to even; too large values become the largest
#pragma once
#include "dlc/memory.cuh"

namespace dlc::dev {
/// `Largest`: bits of the largest finite value; `Infinity`: of an infinity that
/// is read but never made, 0 for none.
template <int Mantissa, int Bias, int Largest, int Infinity> struct Float8 {
  uint8_t bits;
  Float8() = default;
  explicit DLC_DEVICE Float8(float v) : bits(encode(v)) {}
  explicit DLC_DEVICE operator float() const {
    const uint32_t magnitude = bits & 0x7f;
    const uint32_t sign = uint32_t(bits & 0x80) << 24;
    if (magnitude > Largest)
      return bits_as<float>(sign |
                            (magnitude == Infinity ? 0x7f800000u : 0x7fc00000u));
    const uint32_t exponent = magnitude >> Mantissa;
    const uint32_t mantissa = magnitude & ((1u << Mantissa) - 1);
    if (exponent == 0) { // mantissa * 2^(1 - Bias - Mantissa)
      const float f = float(int(mantissa)) *
                      bits_as<float>(uint32_t(128 - Bias - Mantissa) << 23);
      return sign ? -f : f;
    }
    return bits_as<float>(sign | (exponent + (127 - Bias)) << 23 |
                          mantissa << (23 - Mantissa));
  }

private:
  static DLC_DEVICE uint8_t encode(float v) {
    const uint32_t b = bits_as<uint32_t>(v);
    const uint8_t sign = uint8_t(b >> 24 & 0x80);
    if (v != v)
      return 0x7f;
    const int exponent = int(b >> 23 & 0xff) - 127;
    if (exponent == -127)
      return sign; // zero, or far below the smallest
    if (exponent > Bias + 1)
      return uint8_t(sign | Largest);
    const int lowest = 1 - Bias;
    const int below = lowest > exponent ? lowest - exponent : 0;
    const int shift = 23 - Mantissa + below;
    if (shift > 25)
      return sign;
    const uint32_t m = (b & 0x7fffff) | 0x800000;
    const uint32_t rest = m & ((1u << shift) - 1), middle = 1u << (shift - 1);
    uint32_t kept = m >> shift;
    kept += rest > middle || (rest == middle && (kept & 1));
    // A carry out of the mantissa lands in the exponent, as it should.
    const uint32_t result =
        (uint32_t((exponent > lowest ? exponent : lowest) + Bias - 1)
         << Mantissa) +
        kept;
    return uint8_t(sign | (result > Largest ? Largest : result));
  }
};
using f8e4m3_t = Float8<3, 7, 0x7e, 0>;
using f8e5m2_t = Float8<2, 15, 0x7b, 0x7c>;
template <int M, int B, int L, int I> struct ComputeOf<Float8<M, B, L, I>> {
  using Type = float;
};
} // namespace dlc::dev
