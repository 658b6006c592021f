// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 for many values against the conversions of one, and the laws
// that weights keep which are rounded together.
#include "passes/NarrowFloat.h"
#include "ir/Constant.h"
#include "ir/Text.h"
#include "passes/RoundWeights.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace dlc;

namespace {

class NarrowFloatTest : public testing::TestWithParam<DataType> {};

uint16_t roundOne(float value, DataType type) {
  uint8_t stored[2];
  storeFloat(type, stored, 0, double(value));
  return uint16_t(stored[0] | stored[1] << 8);
}

double valueOf(uint16_t bits, DataType type) {
  const uint8_t stored[2] = {uint8_t(bits), uint8_t(bits >> 8)};
  return loadFloat(type, stored, 0);
}

TEST_P(NarrowFloatTest, RoundsAsOneValueDoes) {
  std::mt19937 random(1);
  std::vector<float> values = {0.0F,     -0.0F,    INFINITY, -INFINITY,
                               65504.0F, 65519.9F, 65520.0F, 0x1p-25F};
  for (int i = 0; i < 1 << 20; ++i)
    values.push_back(std::bit_cast<float>(uint32_t(random())));
  // Around each value of the type, and half way to the next.
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    const auto at = float(valueOf(uint16_t(bits), GetParam()));
    const auto next = float(valueOf(uint16_t(bits + 1), GetParam()));
    for (float v : {at, (at + next) / 2})
      for (float to : {v, INFINITY, -INFINITY})
        values.push_back(std::nextafter(v, to));
  }
  // At an odd address, as in a mapped file.
  std::vector<uint8_t> bytes(1);
  for (float v : values)
    llvm::append_range(bytes, std::bit_cast<std::array<uint8_t, 4>>(v));
  std::vector<uint16_t> rounded(values.size(), 0xdead);
  roundToNarrow(bytes.data() + 1, rounded.data(), values.size(), GetParam());
  for (size_t i = 0; i < values.size(); ++i) {
    const double got = valueOf(rounded[i], GetParam());
    if (std::isnan(values[i]))
      ASSERT_TRUE(std::isnan(got));
    else
      ASSERT_EQ(rounded[i], roundOne(values[i], GetParam())) << values[i];
  }
}

TEST(NarrowFloat, LargestMagnitudeLeavesOutInfinities) {
  const float values[] = {0.5F, -3.25F, INFINITY, NAN, 1.0F, -INFINITY, 2.0F};
  auto *bytes = reinterpret_cast<const uint8_t *>(values);
  EXPECT_EQ(largestMagnitude(bytes, 7), 3.25F);
  EXPECT_EQ(largestMagnitude(bytes + 8, 2), 0.0F);
  EXPECT_EQ(largestMagnitude(bytes, 0), 0.0F);
}

/// One contraction: its text, its weights, and which sum element i is part of.
struct Case {
  const char *op, *x, *w, *y;
  std::vector<int64_t> shape;
  std::function<int64_t(int64_t)> sum;
};

// Each sum's error is less than what its least step could mend, no weight is
// off by more than 3/4 of a step, and what is not near the middle is nearest.
void checkSums(const Case &test, DataType narrow) {
  SCOPED_TRACE(test.op + std::string(" ") + test.w);
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0.002, 0.05);
  int64_t count = 1;
  for (int64_t d : test.shape)
    count *= d;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(normal(random));
  auto module =
      parse(std::string("module { graph @main(%x: tensor<") + test.x +
                ">, %w: tensor<" + test.w + ">) -> (%y) { %y = " + test.op +
                " : tensor<" + test.y + "> } }",
            "test");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  const Op &op = (*module)->main().ops().front();
  Constant weights = Constant::fromFloats(op.operand(1)->type(), values);
  std::optional<Constant> rounded = roundedWeights(op, weights, narrow);
  ASSERT_TRUE(rounded);
  ASSERT_EQ(rounded->type().element, narrow);

  struct Sum {
    double before = 0, after = 0, step = INFINITY;
  };
  std::map<int64_t, Sum> sums;
  int64_t moved = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = weights.floatAt(i), got = rounded->floatAt(i);
    const double nearest = valueOf(roundOne(float(value), narrow), narrow);
    const double smallest = narrow == DataType::F16 ? 0x1p-24 : 0x1p-133;
    const double step =
        std::max(std::exp2(std::floor(std::log2(std::fabs(nearest))) -
                           (narrow == DataType::F16 ? 10 : 7)),
                 smallest);
    ASSERT_LE(std::fabs(got - value), 0.75 * step) << i;
    moved += got != nearest;
    Sum &sum = sums[test.sum(i)];
    sum.before += nearest - value;
    sum.after += got - value;
    sum.step = std::min(sum.step, step);
  }
  double before = 0, after = 0;
  for (const auto &[at, sum] : sums) {
    EXPECT_LE(std::fabs(sum.after), std::fabs(sum.before) + 1e-15);
    before += sum.before * sum.before;
    after += sum.after * sum.after;
  }
  EXPECT_GT(moved, 0);
  EXPECT_LT(std::sqrt(after), 0.5 * std::sqrt(before));
}

TEST_P(NarrowFloatTest, ErrorsOfSumsCancel) {
  const Case cases[] = {
      // Columns, more of them than are read together, and a rest.
      {"matmul(%x, %w)",
       "3x300xf32",
       "300x21xf32",
       "3x21xf32",
       {300, 21},
       [](int64_t i) { return i % 21; }},
      {"matmul(%x, %w) {transposeRhs = true}",
       "3x301xf32",
       "19x301xf32",
       "3x19xf32",
       {19, 301},
       [](int64_t i) { return i / 301; }},
      {"matmul(%x, %w)",
       "2x3x40xf32",
       "2x40x17xf32",
       "2x3x17xf32",
       {2, 40, 17},
       [](int64_t i) { return i / 680 * 17 + i % 17; }},
      {"conv(%x, %w) {padLow = [0, 0], padHigh = [0, 0], strides = [1, 1], "
       "dilations = [1, 1]}",
       "1x37x8x8xf32",
       "11x37x3x3xf32",
       "1x11x6x6xf32",
       {11, 37, 3, 3},
       [](int64_t i) { return i / 9; }},
  };
  for (const Case &test : cases)
    checkSums(test, GetParam());
}

// Many threads round a large matrix; each row is what it is alone.
TEST_P(NarrowFloatTest, RowsDoNotDependOnEachOther) {
  constexpr int64_t kDepth = 600, kRows = 900;
  std::mt19937 random(9);
  std::normal_distribution<double> normal(0, 1);
  std::vector<double> values(kDepth * kRows);
  for (double &v : values)
    v = normal(random);
  auto build = [](int64_t rows) {
    const std::string n = std::to_string(rows);
    return parse("module { graph @main(%x: tensor<1x600xf32>, %w: tensor<" + n +
                     "x600xf32>) -> (%y) { %y = matmul(%x, %w) {transposeRhs "
                     "= true} : tensor<1x" +
                     n + "xf32> } }",
                 "test");
  };
  auto rounded = [&](int64_t rows, llvm::ArrayRef<double> some) {
    auto module = build(rows);
    const Op &op = (*module)->main().ops().front();
    return roundedWeights(op, Constant::fromFloats(op.operand(1)->type(), some),
                          GetParam())
        ->rawBytes()
        .vec();
  };
  const std::vector<uint8_t> all = rounded(kRows, values);
  for (int64_t row : {0, 1, 433, 899}) {
    const std::vector<uint8_t> alone =
        rounded(1, llvm::ArrayRef(values).slice(size_t(row * kDepth), kDepth));
    ASSERT_TRUE(
        std::equal(alone.begin(), alone.end(), all.begin() + row * kDepth * 2));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NarrowFloatTest,
                         testing::Values(DataType::F16, DataType::BF16),
                         [](const auto &info) {
                           return stringify(info.param).str();
                         });

} // namespace
