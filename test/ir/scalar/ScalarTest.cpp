// SPDX-License-Identifier: Apache-2.0
// Scalar functions against arithmetic that is wide enough not to wrap.
#include "ir/scalar/Scalar.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace dlc;

namespace {

template <class T> T wrapped(int64_t v) { return T(uint64_t(v)); }

template <class T> class Integers : public testing::Test {};
using IntegerTypes = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t,
                                    uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, Limits) {
  using L = std::numeric_limits<TypeParam>;
  EXPECT_EQ(scalar::lowest<TypeParam>(), L::lowest());
  EXPECT_EQ(scalar::highest<TypeParam>(), L::max());
}

TYPED_TEST(Integers, DivisionNeverTraps) {
  TypeParam low = std::numeric_limits<TypeParam>::lowest();
  EXPECT_EQ(scalar::div(low, TypeParam(0)), TypeParam(0));
  EXPECT_EQ(scalar::rem(low, TypeParam(0)), TypeParam(0));
  EXPECT_EQ(scalar::mod(low, TypeParam(0)), TypeParam(0));
  if (std::is_signed_v<TypeParam>) {
    EXPECT_EQ(scalar::div(low, TypeParam(-1)), low);
    EXPECT_EQ(scalar::rem(low, TypeParam(-1)), TypeParam(0));
    EXPECT_EQ(scalar::abs(low), low);
    EXPECT_EQ(scalar::neg(low), low);
  }
}

TYPED_TEST(Integers, CastsOfFloatsSaturate) {
  using L = std::numeric_limits<TypeParam>;
  for (double v : {-1e30, -9.3e18, -300.5, -1.5, -0.5, 0.0, 0.5, 100.9, 65535.5,
                   4294967295.0, 9.2e18, 1.8e19, 1e30, HUGE_VAL, -HUGE_VAL}) {
    // long double holds every integer of 64 bits.
    auto expected = [](long double x) {
      x = std::trunc(x);
      return x <= (long double)L::lowest() ? L::lowest()
             : x >= (long double)L::max()  ? L::max()
                                           : TypeParam(x);
    };
    EXPECT_EQ(scalar::cast<TypeParam>(v), expected(v)) << v;
    EXPECT_EQ(scalar::cast<TypeParam>(float(v)), expected(float(v))) << v;
  }
  EXPECT_EQ(scalar::cast<TypeParam>(NAN), TypeParam(0));
}

/// Every pair of 8-bit numbers.
template <class T> void checkPairs() {
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++) {
      T x = T(i), y = T(j);
      int64_t a = x, b = y;
      ASSERT_EQ(scalar::add(x, y), wrapped<T>(a + b));
      ASSERT_EQ(scalar::sub(x, y), wrapped<T>(a - b));
      ASSERT_EQ(scalar::mul(x, y), wrapped<T>(a * b));
      ASSERT_EQ(scalar::div(x, y), b ? wrapped<T>(a / b) : T(0));
      ASSERT_EQ(scalar::rem(x, y), b ? wrapped<T>(a % b) : T(0));
      int64_t floored = b ? ((a % b) + b) % b : 0;
      ASSERT_EQ(scalar::mod(x, y), wrapped<T>(floored)) << a << " " << b;
      ASSERT_EQ(scalar::max(x, y), a > b ? x : y);
      ASSERT_EQ(scalar::min(x, y), a < b ? x : y);
      bool all = b < 0 || b >= 8;
      ASSERT_EQ(scalar::shift_left(x, y), all ? T(0) : wrapped<T>(a << b));
      ASSERT_EQ(scalar::shift_right(x, y), wrapped<T>(a >> (all ? 63 : b)));
    }
}
TEST(Scalar, PairsOfInt8) { checkPairs<int8_t>(); }
TEST(Scalar, PairsOfUint8) { checkPairs<uint8_t>(); }

template <class T> class Floats : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Floats, FloatTypes);

TYPED_TEST(Floats, NanWins) {
  using T = TypeParam;
  T nan = T(NAN), inf = T(HUGE_VAL);
  for (T x : {-inf, T(-1), T(0), T(1), inf, nan}) {
    EXPECT_TRUE(std::isnan(scalar::max(nan, x)));
    EXPECT_TRUE(std::isnan(scalar::max(x, nan)));
    EXPECT_TRUE(std::isnan(scalar::min(nan, x)));
    EXPECT_TRUE(std::isnan(scalar::min(x, nan)));
    EXPECT_FALSE(scalar::less(x, nan));
    EXPECT_FALSE(scalar::equal(x, nan));
    EXPECT_FALSE(scalar::sorts_before(nan, x));
    EXPECT_EQ(scalar::sorts_before(x, nan), x == x);
  }
  EXPECT_TRUE(std::isnan(scalar::relu(nan)));
  EXPECT_TRUE(std::isnan(scalar::sign(nan)));
  EXPECT_EQ(scalar::lowest<T>(), -inf);
  EXPECT_EQ(scalar::highest<T>(), inf);
}

TYPED_TEST(Floats, FunctionsAreGoodToAFewSteps) {
  using T = TypeParam;
  auto close = [](T found, long double expected) {
    long double step = std::fabs(expected) * std::numeric_limits<T>::epsilon();
    return std::fabs(found - expected) <= 4 * step + 1e-44L;
  };
  for (T x = T(-20); x < T(20); x += T(0.37)) {
    long double w = x;
    EXPECT_TRUE(close(scalar::exp(x), expl(w))) << x;
    EXPECT_TRUE(close(scalar::erf(x), erfl(w))) << x;
    EXPECT_TRUE(close(scalar::tanh(x), tanhl(w))) << x;
    EXPECT_TRUE(close(scalar::sigmoid(x), 1 / (1 + expl(-w)))) << x;
    EXPECT_TRUE(close(scalar::pow(T(2.5), x), powl(2.5, w))) << x;
    EXPECT_TRUE(close(scalar::rsqrt(x * x + 1), 1 / sqrtl(T(x * x + 1)))) << x;
  }
}

TEST(Scalar, PowersOfIntegers) {
  EXPECT_EQ(scalar::pow(int64_t(3), int64_t(39)), 4052555153018976267);
  EXPECT_EQ(scalar::pow(int32_t(-1), int64_t(-3)), -1);
  EXPECT_EQ(scalar::pow(int32_t(0), int64_t(-1)), 0);
  EXPECT_EQ(scalar::pow(uint8_t(3), uint8_t(6)), uint8_t(729));
  EXPECT_EQ(scalar::pow(int32_t(9), 0.5f), 3);
}

TEST(Scalar, WholeNumbersMissedByRounding) {
  EXPECT_EQ(scalar::nearby_whole(0x1.7ffffffffffffp+1), 3);
  EXPECT_EQ(scalar::nearby_whole(-0x1.afffffffffffep+4), -27);
  EXPECT_EQ(scalar::nearby_whole(2.999999), 2.999999);
  EXPECT_EQ(scalar::nearby_whole(0.5), 0.5);
  EXPECT_EQ(scalar::nearby_whole(1e300), 1e300);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(scalar::nearby_whole(-inf), -inf);
  EXPECT_TRUE(std::isnan(scalar::nearby_whole(inf - inf)));
}

} // namespace
