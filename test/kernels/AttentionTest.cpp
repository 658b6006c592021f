// SPDX-License-Identifier: Apache-2.0
// attention.cuh on the emulator against loops in f64: odd sizes, masked rows
// and scores that are not finite, every instantiation of attention_cases.def,
// fast and two adversarial schedules.
#include "codegen/tiling/AttentionTiling.h"
#include "test/kernels/Harness.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

namespace {
using namespace test;
const Module &kernels() {
  static const Module module(DLC_ATTENTION_KERNELS, "attention");
  return module;
}
int up(int x, int to) { return (x + to - 1) / to * to; }
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Columns that some rows do not see, and rows that see none.
std::vector<float> masks(int b, int m, int n, std::mt19937 &rng) {
  std::vector<float> bias =
      randomData<float>(size_t(std::max(1, b * m * n)), 1, rng);
  for (int i = 0; i < b * m; i++) {
    float *row = &bias[size_t(i) * size_t(n)];
    const int kind = i % 7;
    for (int c = 0; c < n; c++)
      if (kind == 1 || (kind == 2 && c < n - 1) || (kind == 3 && c % 3 == 0))
        row[c] = -kInfinity;
      else if (kind == 4) // every score is as low as this
        row[c] = std::numeric_limits<float>::lowest();
    if (i == 5 && n > 1)
      row[n / 2] = NAN;
    if (i == 12)
      row[0] = kInfinity;
  }
  return bias;
}

template <class In>
void attention(const char *name, int depth, int width, int VB, bool nanRowsZero,
               const dlc::AttentionTiling &t) {
  struct {
    void *buffer[5];
    int64_t symbol[3];
  } p;
  const auto entry = kernels().entry(name);
  if (!entry && getenv("DLC_TEST_KERNELS"))
    GTEST_SKIP() << "not among the mutants' kernels";
  ASSERT_TRUE(entry);
  std::mt19937 rng(11);
  const int sizes[][3] = {{1, 1, 1},     {2, 37, 50},  {1, 16, 130}, {3, 70, 9},
                          {1, 128, 128}, {1, 65, 256}, {2, 3, 0}};
  for (const auto &[b, m, n0] : sizes) {
    const int n = up(n0, VB == 2 ? 2 : 1);
    if (t.stages == 1 && n > t.bn)
      continue;
    // Buffers have an address, also those of no keys.
    auto Q = randomData<In>(size_t(b * m * depth), 1, rng);
    auto K = randomData<In>(size_t(std::max(1, b * n * depth)), 1, rng);
    auto V = randomData<In>(size_t(std::max(1, b * n * width)), 1, rng);
    auto bias = masks(b, m, n, rng);
    std::vector<double> ref;
    for (int i = 0; i < b; i++)
      for (int r = 0; r < m; r++) {
        std::vector<double> w;
        double largest = -kInfinity, sum = 0;
        for (int c = 0; c < n; c++) {
          double s = 0;
          for (int d = 0; d < depth; d++)
            s += toDouble(Q[size_t((i * m + r) * depth + d)]) *
                 toDouble(K[size_t((i * n + c) * depth + d)]);
          s = 0.25 * s + (VB ? bias[size_t((i * m + r) * n + c)] : 0.f);
          w.push_back(float(s));
          largest = std::isnan(s) || s > largest ? double(float(s)) : largest;
        }
        for (double &x : w)
          sum += x = std::exp(x - largest);
        for (int d = 0; d < width; d++) {
          double v = 0;
          for (int c = 0; c < n; c++)
            v += w[size_t(c)] / sum *
                 toDouble(V[size_t((i * n + c) * width + d)]);
          ref.push_back(nanRowsZero && std::isnan(v) ? 0 : v);
        }
      }
    for (uint64_t seed : kSeeds) {
      std::vector<In> D(size_t(b * m * width));
      memset(D.data(), 0xFF, D.size() * sizeof(In));
      p = {{Q.data(), K.data(), V.data(), bias.data(), D.data()}, {b, m, n}};
      Launcher l;
      dlc::AttentionProblem problem;
      problem.depth = depth;
      problem.width = width;
      l.grid = uint32_t(b * ((m + t.rows() - 1) / t.rows()));
      l.threads = uint32_t(t.threads());
      l.smem = uint32_t(t.sharedBytes(problem));
      l.reads(Q);
      l.reads(K);
      l.reads(V);
      l.reads(bias);
      l.writes(D);
      ASSERT_EQ(l.run(entry, &p, seed), "") << "seed " << seed;
      std::vector<double> out, expected;
      for (size_t i = 0; i < D.size(); i++) {
        const double v = toDouble(D[i]);
        ASSERT_EQ(std::isnan(v), std::isnan(ref[i]))
            << "element " << i << " of " << b << "x" << m << "x" << n
            << " seed " << seed;
        out.push_back(std::isnan(v) ? 0 : v);
        expected.push_back(std::isnan(v) ? 0 : ref[i]);
      }
      ASSERT_EQ(compare(out, expected, tolerance<In>()), "")
          << b << "x" << m << "x" << n << " seed " << seed;
    }
  }
}

#define ATTENTION(name, In, D, W, VQ, VK, VV, VB, VC, Zero, WM, WN, BN, ST)    \
  TEST(AttentionTest, name) {                                                  \
    attention<In>(#name, D, W, VB, Zero, {WM, WN, BN, ST, 0});                 \
  }
#include "test/kernels/attention_cases.def"
} // namespace
