// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 in a few instructions without branches, for loops over weights.
#pragma once

#include "ir/DataType.h"

#include <bit>
#include <cstring>

namespace dlc {

/// `a` or `b`, in instructions that compilers find for many at once.
inline uint32_t select(bool first, uint32_t a, uint32_t b) {
  const uint32_t mask = 0U - uint32_t(first);
  return (a & mask) | (b & ~mask);
}

/// IEEE half precision.
struct HalfFormat {
  static constexpr DataType type = DataType::F16;
  static constexpr uint32_t mantissa = 10;
  static constexpr float largest = 65504;
  /// Below this power of two steps become no smaller.
  static constexpr float smallestPower = 0x1p-14F;

  /// Rounds to nearest, halves to even; a NaN stays a quiet NaN.
  static uint16_t round(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    const uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    const uint32_t normal =
        (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
    // The adder rounds to a multiple of the smallest step.
    const uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5F) - 0x3f000000;
    // Signed, since a processor may compare no others.
    const auto number = int32_t(size);
    const uint32_t large =
        select(number > 0x7f800000, 0x7e00 | (size >> 13 & 0x3ff), 0x7c00);
    // 0x477ff000 and more rounds to more than 65504.
    const uint32_t rounded =
        select(number < 0x38800000, subnormal,
               select(number >= 0x477ff000, large, normal));
    return uint16_t(sign | rounded);
  }

  static float value(uint16_t bits) {
    // The exponent's bias is 15 rather than 127.
    const float size =
        std::bit_cast<float>(uint32_t(bits & 0x7fff) << 13) * 0x1p112F;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(size) |
                                uint32_t(bits & 0x8000) << 16);
  }
};

/// The upper half of an f32.
struct BrainFormat {
  static constexpr DataType type = DataType::BF16;
  static constexpr uint32_t mantissa = 7;
  static constexpr float largest = 0x1.fep127F;
  /// The steps of smaller ones are subnormal as f32; they are taken for this.
  static constexpr float smallestPower = 0x1p-119F;

  static uint16_t round(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    const uint32_t nan = bits >> 16 | 0x40;
    const uint32_t number = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return uint16_t(
        select(int32_t(bits & 0x7fffffff) > 0x7f800000, nan, number));
  }

  static float value(uint16_t bits) {
    return std::bit_cast<float>(uint32_t(bits) << 16);
  }
};

/// The power of two of `x`, as a step is counted.
template <class Format> float powerOf(float x) {
  const auto power =
      std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7f800000U);
  return power > Format::smallestPower ? power : Format::smallestPower;
}

/// From `x` to its neighbour away from zero.
template <class Format> float stepAt(float x) {
  return powerOf<Format>(x) *
         std::bit_cast<float>((127 - Format::mantissa) << 23);
}

/// 1 / stepAt(x).
template <class Format> float stepsPerUnit(float x) {
  return std::bit_cast<float>(((254 + Format::mantissa) << 23) -
                              std::bit_cast<uint32_t>(powerOf<Format>(x)));
}

/// Value `i` of those at `bytes`, which may lie anywhere in a mapped file.
inline float loadF32(const uint8_t *bytes, size_t i) {
  float value;
  std::memcpy(&value, bytes + i * sizeof(float), sizeof(float));
  return value;
}

/// `count` f32 values as f16 or bf16, rounded to nearest, halves to even.
void roundToNarrow(const uint8_t *from, uint16_t *to, size_t count,
                   DataType narrow);

/// The largest magnitude among the finite ones of `count` f32 values; 0 if none
/// is finite.
float largestMagnitude(const uint8_t *values, size_t count);

} // namespace dlc
