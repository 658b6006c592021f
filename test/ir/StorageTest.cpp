// SPDX-License-Identifier: Apache-2.0
// Elements in memory: every bit pattern of the narrow types, and rounding
// against a search for the nearest value.
#include "ir/Constant.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace dlc;

namespace {

constexpr DataType narrow[] = {DataType::F16, DataType::BF16, DataType::F8E4M3,
                               DataType::F8E5M2};

uint32_t bitsOf(DataType type, double v) {
  uint8_t bytes[8] = {};
  storeFloat(type, bytes, 0, v);
  return bytes[0] | bytes[1] << 8;
}
double valueOf(DataType type, uint32_t bits) {
  uint8_t bytes[2] = {uint8_t(bits), uint8_t(bits >> 8)};
  return loadFloat(type, bytes, 0);
}

TEST(Storage, EveryPatternReadsBack) {
  for (DataType type : narrow) {
    for (uint32_t bits = 0; bits != 1u << bitWidth(type); ++bits) {
      double v = valueOf(type, bits);
      if (v != v)
        continue;
      if (type == DataType::F8E5M2 && std::isinf(v)) {
        EXPECT_EQ(bitsOf(type, v) & 0x7f, 0x7bu); // casts saturate
        continue;
      }
      ASSERT_EQ(bitsOf(type, v), bits) << stringify(type).str();
    }
  }
}

TEST(Storage, RoundsToTheNearestAndHalvesToEven) {
  std::mt19937_64 random(3);
  for (DataType type : narrow) {
    uint32_t top = 1u << (bitWidth(type) - 1);
    for (int i = 0; i != 20000; ++i) {
      // A value between two neighbours: anywhere, or exactly in the middle.
      uint32_t low = random() % (top - 1);
      double a = valueOf(type, low), b = valueOf(type, low + 1);
      if (!std::isfinite(a) || !std::isfinite(b))
        continue;
      double t = double(random() % 1000) / 1000;
      double v = i % 4 == 0 ? (a + b) / 2 : a + (b - a) * t;
      double sign = i % 2 ? -1 : 1;
      double middle = (a + b) / 2;
      uint32_t expected = v < middle   ? low
                          : v > middle ? low + 1
                                       : low + (low & 1);
      ASSERT_EQ(bitsOf(type, sign * v) & (top - 1), expected)
          << stringify(type).str() << " of " << v;
      ASSERT_EQ(std::signbit(valueOf(type, bitsOf(type, sign * v))), sign < 0);
    }
  }
}

TEST(Storage, KnownValues) {
  EXPECT_EQ(valueOf(DataType::F8E4M3, 0x7e), 448);
  EXPECT_EQ(valueOf(DataType::F8E5M2, 0x7b), 57344);
  EXPECT_TRUE(std::isnan(valueOf(DataType::F8E4M3, 0x7f)));
  EXPECT_EQ(bitsOf(DataType::F8E4M3, 1e9), 0x7eu);
  EXPECT_EQ(bitsOf(DataType::F8E4M3, -HUGE_VAL), 0xfeu);
  EXPECT_EQ(bitsOf(DataType::F16, 65504), 0x7bffu);
  EXPECT_EQ(bitsOf(DataType::F16, 65519.99), 0x7bffu);
  EXPECT_EQ(bitsOf(DataType::F16, 65520), 0x7c00u);
  EXPECT_EQ(bitsOf(DataType::BF16, 1), 0x3f80u);
  EXPECT_EQ(valueOf(DataType::F16, 1), std::ldexp(1, -24));
  // Once, not first to f32: 1 + 2^-11 + 2^-40 is above the middle.
  EXPECT_EQ(bitsOf(DataType::F16, 1 + std::ldexp(1, -11) + std::ldexp(1, -40)),
            0x3c01u);
}

TEST(Storage, IntegersSaturateFromFloatsAndWrapFromIntegers) {
  struct {
    DataType type;
    double v;
    int64_t expected;
  } cases[] = {
      {DataType::I8, 200, 127},
      {DataType::I8, -200, -128},
      {DataType::I8, -1.9, -1},
      {DataType::U8, -3, 0},
      {DataType::U8, 255.9, 255},
      {DataType::U8, 256, 255},
      {DataType::I4, 9, 7},
      {DataType::U4, 17, 15},
      {DataType::I64, 1e30, INT64_MAX},
      {DataType::I64, -1e30, INT64_MIN},
      {DataType::U64, 1e30, -1},
      {DataType::I32, NAN, 0},
      {DataType::I32, 2147483647.0, 2147483647},
      {DataType::Bool, 0.1, 1},
  };
  for (auto &c : cases) {
    uint8_t bytes[8] = {};
    storeFloat(c.type, bytes, 0, c.v);
    EXPECT_EQ(loadInt(c.type, bytes, 0), c.expected) << c.v;
  }
  uint8_t bytes[8] = {};
  storeInt(DataType::I8, bytes, 0, 300);
  EXPECT_EQ(loadInt(DataType::I8, bytes, 0), 44);
  storeInt(DataType::U4, bytes, 1, 18);
  EXPECT_EQ(loadInt(DataType::U4, bytes, 1), 2);
  EXPECT_EQ(loadInt(DataType::U4, bytes, 0), 44 & 15) << "its neighbour stays";
}

TEST(Constant, SplatsEqualWhatTheyStandFor) {
  for (DataType type : {DataType::F32, DataType::F16, DataType::I4,
                        DataType::I64, DataType::Bool}) {
    TensorType t(type, {3, 5});
    Constant splat = Constant::splat(t, 1);
    Constant spelled = Constant::fromFloats(t, std::vector<double>(15, 1));
    EXPECT_TRUE(splat == spelled);
    EXPECT_EQ(splat.hash(), spelled.hash());
    EXPECT_EQ(splat.uniformValue(), spelled.uniformValue());
    EXPECT_EQ(splat.expandedBytes().size(), spelled.rawBytes().size());
    std::vector<double> other(15, 1);
    other[14] = 0;
    Constant different = Constant::fromFloats(t, other);
    EXPECT_FALSE(splat == different);
    EXPECT_NE(splat.hash(), different.hash());
    EXPECT_EQ(different.uniformValue(), std::nullopt);
  }
}

} // namespace
