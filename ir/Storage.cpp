// SPDX-License-Identifier: Apache-2.0
// Elements between memory and double or int64_t.
#include "ir/Constant.h"

#include "ir/Check.h"
#include <bit>
#include <cmath>
#include <cstring>

namespace dlc {

namespace {

/// A narrow IEEE-like format.
struct Format {
  int mantissa, bias;
  uint32_t largest;  ///< bits of the largest finite value
  uint32_t infinity; ///< bits that a too large value gets: largest saturates
  uint32_t nan;
  uint32_t sign;
};
constexpr Format half{10, 15, 0x7bff, 0x7c00, 0x7e00, 0x8000};
constexpr Format brain{7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0x8000};
constexpr Format e4m3{3, 7, 0x7e, 0x7e, 0x7f, 0x80};
constexpr Format e5m2{2, 15, 0x7b, 0x7b, 0x7f, 0x80};

/// Rounds to nearest, halves to even, from the double directly: once.
template <const Format &f> uint32_t encode(double v) {
  uint64_t bits = std::bit_cast<uint64_t>(v);
  uint32_t sign = bits >> 63 ? f.sign : 0;
  if (v != v)
    return f.nan;
  int exponent = int(bits >> 52 & 0x7ff) - 1023;
  if (exponent == -1023)
    return sign; // zero, or a denormal double: far below every narrow format
  if (exponent > f.bias + 1)
    return sign | f.infinity;
  uint64_t mantissa = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  int lowest = 1 - f.bias;
  int shift = 52 - f.mantissa + std::max(0, lowest - exponent);
  if (shift > 54)
    return sign;
  uint64_t kept = mantissa >> shift;
  uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1);
  uint64_t middle = uint64_t(1) << (shift - 1);
  kept += rest > middle || (rest == middle && (kept & 1));
  // A carry out of the mantissa lands in the exponent, as it should.
  uint64_t result =
      (uint64_t(std::max(exponent, lowest) + f.bias - 1) << f.mantissa) + kept;
  return sign | (result > f.largest ? f.infinity : uint32_t(result));
}

template <const Format &f> double decode(uint32_t bits) {
  uint32_t magnitude = bits & (f.sign - 1);
  double sign = bits & f.sign ? -1.0 : 1.0;
  if (magnitude > f.largest)
    return f.infinity != f.largest && magnitude == f.infinity ? sign * HUGE_VAL
           : f.largest == e5m2.largest && magnitude == 0x7c
               ? sign * HUGE_VAL // e5m2 has an infinity that casts do not make
               : std::numeric_limits<double>::quiet_NaN();
  uint64_t exponent = magnitude >> f.mantissa;
  uint64_t mantissa = magnitude & ((1u << f.mantissa) - 1);
  if (exponent == 0)
    return sign * double(mantissa) *
           std::bit_cast<double>(uint64_t(1 - f.bias - f.mantissa + 1023)
                                 << 52);
  return sign * std::bit_cast<double>((exponent - f.bias + 1023) << 52 |
                                      mantissa << (52 - f.mantissa));
}

template <class T> T read(const uint8_t *p, int64_t i) {
  T v;
  std::memcpy(&v, p + i * int64_t(sizeof(T)), sizeof(T));
  return v;
}
template <class T> void write(uint8_t *p, int64_t i, T v) {
  std::memcpy(p + i * int64_t(sizeof(T)), &v, sizeof(T));
}

/// Truncates and saturates to `bits` bits; a NaN gives 0. The result of u64
/// is its bit pattern.
int64_t toInteger(double v, unsigned bits, bool isSignedType) {
  if (v != v)
    return 0;
  v = std::trunc(v);
  double low = isSignedType ? -std::ldexp(1, int(bits) - 1) : 0;
  double above = std::ldexp(1, int(bits) - isSignedType);
  if (v >= above)
    return bits == 64 ? (isSignedType ? INT64_MAX : -1)
                      : (int64_t(1) << (bits - isSignedType)) - 1;
  if (v <= low)
    return isSignedType ? INT64_MIN >> (64 - bits) : 0;
  return isSignedType ? int64_t(v) : int64_t(uint64_t(v));
}

uint8_t nibble(const uint8_t *p, int64_t i) {
  return p[i / 2] >> (i % 2 * 4) & 15;
}

} // namespace

int64_t loadInt(DataType type, const uint8_t *p, int64_t i) {
  switch (type) {
  case DataType::I64:
  case DataType::U64:
    return read<int64_t>(p, i);
  case DataType::I32:
    return read<int32_t>(p, i);
  case DataType::U32:
    return read<uint32_t>(p, i);
  case DataType::I16:
    return read<int16_t>(p, i);
  case DataType::U16:
    return read<uint16_t>(p, i);
  case DataType::I8:
    return read<int8_t>(p, i);
  case DataType::U8:
    return p[i];
  case DataType::I4:
    return int8_t(nibble(p, i) << 4) >> 4;
  case DataType::U4:
    return nibble(p, i);
  case DataType::Bool:
    return p[i] != 0;
  default:
    return toInteger(loadFloat(type, p, i), 64, true);
  }
}

void storeInt(DataType type, uint8_t *p, int64_t i, int64_t v) {
  switch (type) {
  case DataType::I64:
  case DataType::U64:
    return write(p, i, v);
  case DataType::I32:
  case DataType::U32:
    return write(p, i, int32_t(v));
  case DataType::I16:
  case DataType::U16:
    return write(p, i, int16_t(v));
  case DataType::I8:
  case DataType::U8:
    return write(p, i, int8_t(v));
  case DataType::I4:
  case DataType::U4: {
    unsigned shift = i % 2 * 4;
    p[i / 2] = uint8_t((p[i / 2] & ~(15 << shift)) | (v & 15) << shift);
    return;
  }
  case DataType::Bool:
    p[i] = v != 0;
    return;
  case DataType::F32:
    return write(p, i, float(v)); // rounds once
  default:
    return storeFloat(type, p, i, double(v));
  }
}

double loadFloat(DataType type, const uint8_t *p, int64_t i) {
  switch (type) {
  case DataType::F64:
    return read<double>(p, i);
  case DataType::F32:
    return read<float>(p, i);
  case DataType::F16:
    return decode<half>(read<uint16_t>(p, i));
  case DataType::BF16:
    return std::bit_cast<float>(uint32_t(read<uint16_t>(p, i)) << 16);
  case DataType::F8E4M3:
    return decode<e4m3>(p[i]);
  case DataType::F8E5M2:
    return decode<e5m2>(p[i]);
  case DataType::U64:
    return double(read<uint64_t>(p, i));
  default:
    return double(loadInt(type, p, i));
  }
}

void storeFloat(DataType type, uint8_t *p, int64_t i, double v) {
  switch (type) {
  case DataType::F64:
    return write(p, i, v);
  case DataType::F32:
    return write(p, i, float(v));
  case DataType::F16:
    return write(p, i, uint16_t(encode<half>(v)));
  case DataType::BF16:
    return write(p, i, uint16_t(encode<brain>(v)));
  case DataType::F8E4M3:
    p[i] = uint8_t(encode<e4m3>(v));
    return;
  case DataType::F8E5M2:
    p[i] = uint8_t(encode<e5m2>(v));
    return;
  case DataType::Bool:
    p[i] = v != 0;
    return;
  default:
    return storeInt(type, p, i, toInteger(v, bitWidth(type), isSigned(type)));
  }
}

} // namespace dlc
