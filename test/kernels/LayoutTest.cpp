// SPDX-License-Identifier: Apache-2.0
// Every operand kind and layout of mma.sync and wgmma against plain loops.
#include "test/kernels/Harness.h"
#include <gtest/gtest.h>

namespace {
using namespace test;
enum Kind : int { F16, BF16, TF32, S8, E4M3 };
struct P { // of layouts.cu
  Kind kind;
  int n, mode;
  bool regs, transA, transB;
  const uint8_t *a, *b;
  uint32_t *d;
};
int bytesOf(Kind k) { return k == S8 || k == E4M3 ? 1 : k == TF32 ? 4 : 2; }
double value(Kind k, const uint8_t *p) {
  if (k == F16 || k == BF16) {
    uint16_t h;
    memcpy(&h, p, 2);
    return k == F16 ? toDouble(half_t{h}) : toDouble(bf16_t{h});
  }
  if (k == TF32) {
    uint32_t u;
    memcpy(&u, p, 4);
    u &= ~0x1FFFu;
    float f;
    memcpy(&f, &u, 4);
    return f;
  }
  if (k == S8)
    return int8_t(*p);
  const int e = *p >> 3 & 15, m = *p & 7;
  const double v = std::ldexp(e ? 8 + m : m, (e ? e : 1) - 10);
  return *p & 0x80 ? -v : v;
}
std::vector<uint8_t> fill(Kind k, int rows, std::mt19937 &rng) {
  std::vector<uint8_t> v(size_t(rows * 32));
  const auto es = size_t(bytesOf(k));
  for (size_t i = 0; i < v.size(); i += es) {
    const double f = (int(rng() % 64) - 32) / 8.;
    if (k == F16) {
      const auto h = fromDouble<half_t>(f);
      memcpy(&v[i], &h, 2);
    } else if (k == BF16) {
      const auto h = fromDouble<bf16_t>(f);
      memcpy(&v[i], &h, 2);
    } else if (k == TF32) {
      const float g = float(f) * 1.001f;
      memcpy(&v[i], &g, 4);
    } else
      v[i] = uint8_t(k == E4M3 && rng() % 2 ? rng() % 0x7F : rng() % 0x77);
  }
  return v;
}
void check(P p, int rows, const char *entry, uint32_t threads) {
  static const Module kernels(DLC_LAYOUT_KERNELS, "layouts");
  static std::mt19937 rng(1);
  if (kernels.onGpu())
    GTEST_SKIP() << "a test of the emulator";
  const int es = bytesOf(p.kind), K = 32 / es;
  const auto a = fill(p.kind, rows, rng), b = fill(p.kind, p.n, rng);
  for (uint64_t seed : kSeeds) {
    std::vector<uint32_t> d(size_t(rows * p.n), 0xFFFFFFFF);
    p.a = a.data();
    p.b = b.data();
    p.d = d.data();
    Launcher l;
    l.threads = threads;
    l.smem = 65536;
    ASSERT_EQ(l.run(kernels.entry(entry), &p, seed), "");
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < p.n; c++) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < K; k++) {
          const double v = value(p.kind, &a[size_t((r * K + k) * es)]) *
                           value(p.kind, &b[size_t((c * K + k) * es)]);
          sum += v;
          magnitude += std::fabs(v);
        }
        const uint32_t bits = d[size_t(r * p.n + c)];
        float f;
        memcpy(&f, &bits, 4);
        const double got = p.kind == S8 ? double(int32_t(bits)) : double(f);
        ASSERT_LE(std::fabs(got - sum), 1e-6 * magnitude)
            << entry << " kind " << p.kind << " n " << p.n << " mode " << p.mode
            << " regs " << p.regs << " transA " << p.transA << " transB "
            << p.transB << " at " << r << "," << c << " seed " << seed;
      }
  }
}
constexpr Kind kinds[] = {F16, BF16, TF32, S8, E4M3};

TEST(Layout, Mma) {
  for (Kind k : kinds)
    check({k, 8, 0, false, false, false, nullptr, nullptr, nullptr}, 16,
          "layout_mma", 32);
}
TEST(Layout, WgmmaKMajor) {
  for (Kind k : kinds)
    for (int n : {8, 24, 64, 256})
      for (int mode : {0, 1, 2, 3})
        for (bool regs : {false, true})
          check({k, n, mode, regs, false, false, nullptr, nullptr, nullptr}, 64,
                "layout_wgmma", 128);
}
TEST(Layout, WgmmaRowMajor) { // 16-bit only
  for (Kind k : {F16, BF16})
    for (int n : {64, 128, 256})
      for (int mode : {1, 2, 3})
        for (int t = 1; t < 4; t++)
          check({k, n, mode, false, bool(t & 1), bool(t & 2), nullptr, nullptr,
                 nullptr},
                64, "layout_wgmma", 128);
}
} // namespace
