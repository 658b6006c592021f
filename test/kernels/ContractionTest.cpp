// SPDX-License-Identifier: Apache-2.0
// contraction.cuh on the emulator against loops in f64: odd sizes, every
// instantiation of contraction_cases.def, fast and two adversarial schedules.
#include "test/kernels/Harness.h"
#include <gtest/gtest.h>

namespace {
using namespace test;
const Module &kernels() {
  static const Module module(DLC_CONTRACTION_KERNELS, "contraction");
  return module;
}
int up(int x, int to) { return (x + to - 1) / to * to; }
struct Tiling {
  int BM, BN, BK, warps, stages, splitK;
  bool cluster, workspace, tensorCores;
  template <class In, class Acc> uint32_t smem(int warpsN) const {
    const int stage = (BM + BN) * BK * int(sizeof(In));
    const int store = cluster
                          ? BM * (BN + 8) * int(sizeof(Acc))
                          : warps * 16 * (BN / warpsN + 8) * int(sizeof(Acc));
    return uint32_t(std::max(stages * stage, store) + 16);
  }
};

template <class In, class Acc, class Out>
void matmul(const char *name, int VA, int VB, bool TB, int VC, const Tiling &t,
            uint32_t smem) {
  struct {
    void *buffer[6];
    int64_t symbol[4];
  } p;
  const auto entry = kernels().entry(name);
  if (!entry && getenv("DLC_TEST_KERNELS"))
    GTEST_SKIP() << "not among the mutants' kernels";
  ASSERT_TRUE(entry);
  std::mt19937 rng(7);
  const int sizes[][4] = {{1, 1, 5, 16},
                          {2, 67, 40, 72},
                          {1, 130, 200, 136},
                          {3, 17, 9, 300},
                          {1, 64, 64, 1}};
  for (const auto &[b, m, n0, k0] : sizes) {
    int k = up(k0, VA), n = up(n0, VC);
    if (TB)
      n = up(n, VB);
    else
      k = up(k, VB);
    auto A = randomData<In>(size_t(b * m * k), 1, rng);
    auto B = randomData<In>(size_t(b * n * k), 1 / std::sqrt(k), rng);
    auto bias = randomData<Acc>(size_t(n), 1, rng);
    const int tiles = b * ((m + t.BM - 1) / t.BM) * ((n + t.BN - 1) / t.BN);
    std::vector<Acc> ws(t.workspace ? size_t(tiles) * t.splitK * t.BM * t.BN
                                    : 1);
    std::vector<int32_t> counters(size_t(tiles), 0);
    std::vector<double> ref;
    for (int i = 0; i < b; i++)
      for (int r = 0; r < m; r++)
        for (int c = 0; c < n; c++) {
          double v = toDouble(bias[size_t(c)]);
          for (int q = 0; q < k; q++)
            v += toDouble(A[size_t((i * m + r) * k + q)]) *
                 toDouble(
                     B[size_t(TB ? (i * k + q) * n + c : (i * n + c) * k + q)]);
          ref.push_back(std::max(v, 0.0));
        }
    for (uint64_t seed : kSeeds) {
      std::vector<Out> C(size_t(b * m * n));
      memset(C.data(), 0xFF, C.size() * sizeof(Out));
      p = {{A.data(), B.data(), C.data(), bias.data(), ws.data(),
            counters.data()},
           {b, m, n, k}};
      Launcher l;
      l.grid = uint32_t(tiles * t.splitK);
      l.threads = uint32_t(32 * t.warps);
      l.cluster = uint32_t(t.cluster ? t.splitK : 1);
      l.smem = smem;
      l.reads(A);
      l.reads(B);
      l.reads(bias);
      l.writes(C);
      l.writes(ws);
      l.writes(counters);
      ASSERT_EQ(l.run(entry, &p, seed), "") << "seed " << seed;
      std::vector<double> out;
      for (Out x : C)
        out.push_back(toDouble(x));
      const double tol =
          std::max(tolerance<In>(t.tensorCores), tolerance<Out>(t.tensorCores));
      ASSERT_EQ(compare(out, ref, tol), "")
          << b << "x" << m << "x" << n << "x" << k << " seed " << seed;
      for (int32_t c : counters)
        ASSERT_EQ(c, 0);
    }
  }
}

template <class In>
void conv(const char *name, int VA, int VC, bool alongM, const Tiling &t,
          uint32_t smem) {
  struct {
    void *buffer[5];
    int64_t symbol[10];
  } p;
  const auto entry = kernels().entry(name);
  if (!entry && getenv("DLC_TEST_KERNELS"))
    GTEST_SKIP() << "not among the mutants' kernels";
  ASSERT_TRUE(entry);
  std::mt19937 rng(9);
  // N H W C K R S stride pad dilation
  const int sizes[][10] = {{1, 7, 9, 5, 24, 3, 3, 1, 1, 1},
                           {2, 15, 11, 16, 40, 3, 3, 2, 1, 1},
                           {3, 9, 8, 24, 72, 1, 1, 1, 0, 1},
                           {1, 14, 13, 8, 8, 5, 3, 1, 2, 2}};
  for (const auto &[N, H, W, C0, K0, R, S, stride, pad, dilation] : sizes) {
    const int C = VA == 1 ? C0 : up(C0, VA), K = up(K0, VC);
    const int P = (H + 2 * pad - dilation * (R - 1) - 1) / stride + 1,
              Q = (W + 2 * pad - dilation * (S - 1) - 1) / stride + 1;
    auto x = randomData<In>(size_t(N * H * W * C), 1, rng);
    auto w =
        randomData<In>(size_t(K * R * S * C), 1 / std::sqrt(R * S * C), rng);
    auto bias = randomData<float>(size_t(K), 1, rng);
    auto residual = randomData<In>(size_t(N * P * Q * K), 1, rng);
    std::vector<double> ref(residual.size());
    for (int n = 0; n < N; n++)
      for (int oy = 0; oy < P; oy++)
        for (int ox = 0; ox < Q; ox++)
          for (int o = 0; o < K; o++) {
            double v = bias[size_t(o)];
            for (int r = 0; r < R; r++)
              for (int s = 0; s < S; s++) {
                const int y = oy * stride - pad + r * dilation,
                          z = ox * stride - pad + s * dilation;
                if (y < 0 || y >= H || z < 0 || z >= W)
                  continue;
                for (int c = 0; c < C; c++)
                  v += toDouble(x[size_t(((n * H + y) * W + z) * C + c)]) *
                       toDouble(w[size_t(((o * R + r) * S + s) * C + c)]);
              }
            const auto at = size_t(alongM ? ((n * K + o) * P + oy) * Q + ox
                                          : ((n * P + oy) * Q + ox) * K + o);
            ref[at] = std::max(v + toDouble(residual[at]), 0.0);
          }
    for (uint64_t seed : kSeeds) {
      std::vector<In> y(residual.size());
      memset(y.data(), 0xFF, y.size() * sizeof(In));
      p = {{x.data(), w.data(), y.data(), bias.data(), residual.data()},
           {N, H, W, C, K, R, S, stride, pad, dilation}};
      Launcher l;
      l.grid = uint32_t(((N * P * Q + t.BM - 1) / t.BM) *
                        ((K + t.BN - 1) / t.BN) * t.splitK);
      l.threads = uint32_t(32 * t.warps);
      l.cluster = uint32_t(t.cluster ? t.splitK : 1);
      l.smem = smem;
      l.reads(x);
      l.reads(w);
      l.reads(bias);
      l.reads(residual);
      l.writes(y);
      ASSERT_EQ(l.run(entry, &p, seed), "") << "seed " << seed;
      std::vector<double> out;
      for (In v : y)
        out.push_back(toDouble(v));
      ASSERT_EQ(compare(out, ref, tolerance<In>()), "")
          << "C " << C << " K " << K << " R " << R << " seed " << seed;
    }
  }
}

#define MATMUL(name, In, Acc, Out, VA, VB, TB, VC, BM, BN, BK, WM, WN, ST, SK, \
               SP, TC)                                                         \
  TEST(Contraction, name) {                                                    \
    const std::string split = #SP;                                             \
    const Tiling t{                                                            \
        BM, BN, BK, WM * WN, ST, SK, split == "Cluster", split == "Workspace", \
        TC};                                                                   \
    matmul<In, Acc, Out>(#name, VA, VB, TB, VC, t, t.smem<In, Acc>(WN));       \
  }
#define CONV(name, In, Acc, VA, VC, AM, BM, BN, BK, WM, WN, ST, SK, SP, TC)    \
  TEST(Contraction, name) {                                                    \
    const std::string split = #SP;                                             \
    const Tiling t{                                                            \
        BM, BN, BK, WM * WN, ST, SK, split == "Cluster", split == "Workspace", \
        TC};                                                                   \
    conv<In>(#name, VA, VC, AM, t, t.smem<In, Acc>(WN));                       \
  }
#define WGMMA(name, In, Out, VA, VB, VC, WG, MT, BN, ST, SK, SP)               \
  TEST(Contraction, name) {                                                    \
    const std::string split = #SP;                                             \
    const Tiling t{                                                            \
        64 * WG * MT,         BN,  64, 4 * WG, ST, SK, split == "Cluster",     \
        split == "Workspace", true};                                           \
    matmul<In, float, Out>(#name, VA, VB, false, VC, t, t.smem<In, float>(1)); \
  }
#include "test/kernels/contraction_cases.def"
} // namespace
