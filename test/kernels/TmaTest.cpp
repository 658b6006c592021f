// SPDX-License-Identifier: Apache-2.0
// contraction_tma.cuh on the emulator against loops in f64: every
// instantiation of tma_cases.def, odd sizes, fewer blocks than tiles, fast and
// two adversarial schedules.
#include "codegen/tiling/ContractionTiling.h"
#include "test/kernels/Harness.h"
#include <gtest/gtest.h>

namespace {
using namespace test;
using dlc::ContractionTiling;
using Schedule = ContractionTiling::Schedule;
const Module &kernels() {
  static const Module module(DLC_TMA_KERNELS, "tma");
  return module;
}
template <class T> int mapType() { return std::is_same_v<T, half_t> ? 6 : 9; }
ContractionTiling tiling(bool swap, int groups, int mTiles, int by, int stages,
                         int kSub, int splitK, Schedule schedule) {
  ContractionTiling t;
  t.setTma(swap, groups, mTiles, by, schedule);
  t.stages = stages;
  t.kSub = kSub;
  t.splitK = splitK;
  return t;
}

/// Whether every block of a cluster gets whole units of k.
bool fits(const ContractionTiling &t, int steps) {
  return steps % t.kSub == 0 && steps / t.kSub >= t.splitK;
}
void shape(Launcher &l, const ContractionTiling &t, int64_t b, int64_t m,
           int64_t n) {
  // Fewer blocks than tiles: each has several.
  const auto tiles = b * t.tiles(m, n);
  l.grid =
      uint32_t(t.schedule == Schedule::Latency ? tiles * t.splitK
                                               : std::min<int64_t>(tiles, 2));
  l.threads = uint32_t(t.threads());
  l.cluster = uint32_t(t.splitK);
  l.smem = uint32_t(t.sharedBytes({}));
}

template <class In, class Out>
void matmul(const char *name, bool batchesA, bool batchesB, int VC,
            const ContractionTiling &t) {
  struct alignas(64) {
    uint8_t map[2][128];
    void *buffer[2];
    int64_t symbol[4];
  } p{};
  const auto entry = kernels().entry(name);
  if (!entry && getenv("DLC_TEST_KERNELS"))
    GTEST_SKIP() << "not among the mutants' kernels";
  ASSERT_TRUE(entry);
  std::mt19937 rng(7);
  const int sizes[][4] = {{1, 1, 8, 512},     {2, 67, 40, 264},
                          {1, 700, 200, 768}, {3, 130, 64, 512},
                          {1, 5, 1000, 1024}, {1, 300, 136, 8}};
  for (const auto &[b0, m, n, k] : sizes) {
    const int b = batchesB ? b0 : 1;
    const int steps = (k + 63) / 64;
    if (!fits(t, steps))
      continue;
    auto A = randomData<In>(size_t((batchesA ? b : 1) * m * k), 1, rng);
    auto B = randomData<In>(size_t(b * n * k), 1 / std::sqrt(k), rng);
    auto bias = randomData<float>(size_t(n), 1, rng);
    std::vector<double> ref, a, w;
    for (In x : A)
      a.push_back(toDouble(x));
    for (In x : B)
      w.push_back(toDouble(x));
    for (int i = 0; i < b; i++)
      for (int r = 0; r < m; r++)
        for (int c = 0; c < n; c++) {
          const double *u = &a[size_t(((batchesA ? i : 0) * m + r) * k)],
                       *v = &w[size_t((i * n + c) * k)];
          double s = bias[size_t(c)];
          for (int q = 0; q < k; q++)
            s += u[q] * v[q];
          ref.push_back(std::max(s, 0.0));
        }
    for (uint64_t seed : kSeeds) {
      std::vector<Out> C(size_t(b * m * n));
      memset(C.data(), 0xFF, C.size() * sizeof(Out));
      p.buffer[0] = C.data();
      p.buffer[1] = bias.data();
      const int64_t symbols[] = {b, m, n, k};
      memcpy(p.symbol, symbols, sizeof symbols);
      Launcher l;
      shape(l, t, b, m, n);
      l.reads(A);
      l.reads(B);
      l.reads(bias);
      l.writes(C);
      auto map = [&](uint32_t buffer, int rows, int box, bool batches) {
        const auto K = uint64_t(k), R = uint64_t(rows);
        MapOver o{buffer,
                  mapType<In>(),
                  batches ? 3u : 2u,
                  {K, R, uint64_t(b)},
                  {2 * K, 2 * K * R},
                  {64, uint32_t(box), 1}};
        l.maps.push_back(o);
      };
      map(0, m, t.bm, batchesA);
      map(1, n, t.bn, batchesB);
      ASSERT_EQ(l.run(entry, &p, seed), "")
          << b << "x" << m << "x" << n << "x" << k << " seed " << seed;
      std::vector<double> out;
      for (Out x : C)
        out.push_back(toDouble(x));
      ASSERT_EQ(compare(out, ref, std::max(tolerance<In>(), tolerance<Out>())),
                "")
          << b << "x" << m << "x" << n << "x" << k << " seed " << seed;
    }
  }
}

template <class In> void conv(const char *name, const ContractionTiling &t) {
  struct alignas(64) {
    uint8_t map[2][128];
    void *buffer[3];
    int64_t symbol[11];
  } p{};
  const auto entry = kernels().entry(name);
  if (!entry && getenv("DLC_TEST_KERNELS"))
    GTEST_SKIP() << "not among the mutants' kernels";
  ASSERT_TRUE(entry);
  std::mt19937 rng(9);
  // N H W C K R S stride padY padX dilation
  const int sizes[][11] = {{2, 15, 11, 64, 72, 3, 3, 1, 1, 1, 1},
                           {3, 14, 13, 40, 136, 3, 3, 2, 1, 1, 1},
                           {1, 28, 17, 128, 64, 1, 1, 2, 0, 0, 1},
                           {2, 9, 12, 72, 80, 5, 3, 1, 2, 0, 1},
                           {1, 12, 13, 64, 64, 3, 3, 1, 2, 2, 2},
                           {1, 7, 7, 192, 128, 3, 3, 1, 1, 1, 1}};
  for (const auto &[N, H, W, C, K, R, S, stride, padY, padX, dilation] :
       sizes) {
    const int P = (H + 2 * padY - dilation * (R - 1) - 1) / stride + 1,
              Q = (W + 2 * padX - dilation * (S - 1) - 1) / stride + 1;
    if (!fits(t, R * S * ((C + 63) / 64)))
      continue;
    auto x = randomData<In>(size_t(N * H * W * C), 1, rng);
    auto w =
        randomData<In>(size_t(K * R * S * C), 1 / std::sqrt(R * S * C), rng);
    auto bias = randomData<float>(size_t(K), 1, rng);
    auto residual = randomData<In>(size_t(N * P * Q * K), 1, rng);
    std::vector<double> ref(residual.size()), xs, ws;
    for (In v : x)
      xs.push_back(toDouble(v));
    for (In v : w)
      ws.push_back(toDouble(v));
    for (int at = 0; at < N * P * Q * K; at++) {
      const int o = at % K, ox = at / K % Q, oy = at / K / Q % P,
                n = at / K / Q / P;
      double v = bias[size_t(o)] + toDouble(residual[size_t(at)]);
      for (int tap = 0; tap < R * S; tap++) {
        const int iy = oy * stride - padY + tap / S * dilation,
                  ix = ox * stride - padX + tap % S * dilation;
        if (iy < 0 || iy >= H || ix < 0 || ix >= W)
          continue;
        const double *a = &xs[size_t(((n * H + iy) * W + ix) * C)],
                     *b = &ws[size_t((o * R * S + tap) * C)];
        for (int c = 0; c < C; c++)
          v += a[c] * b[c];
      }
      ref[size_t(at)] = std::max(v, 0.0);
    }
    for (uint64_t seed : kSeeds) {
      std::vector<In> y(residual.size());
      memset(y.data(), 0xFF, y.size() * sizeof(In));
      p.buffer[0] = y.data();
      p.buffer[1] = bias.data();
      p.buffer[2] = residual.data();
      const int64_t symbols[] = {N, P,      Q,    K,    R,       S,
                                 C, stride, padY, padX, dilation};
      memcpy(p.symbol, symbols, sizeof symbols);
      Launcher l;
      shape(l, t, 1, N * P * Q, K);
      l.reads(x);
      l.reads(w);
      l.reads(bias);
      l.reads(residual);
      l.writes(y);
      const auto c = uint64_t(C), width = uint64_t(W), height = uint64_t(H);
      MapOver a{0,
                mapType<In>(),
                4,
                {c, width, height, uint64_t(N)},
                {2 * c, 2 * c * width, 2 * c * width * height},
                {64, uint32_t(t.bm)},
                true,
                {-padX, -padY},
                {padX - (S - 1) * dilation, padY - (R - 1) * dilation},
                {uint32_t(stride), uint32_t(stride)}};
      const auto taps = uint64_t(R * S);
      MapOver b{1,
                mapType<In>(),
                3,
                {c, taps, uint64_t(K)},
                {2 * c, 2 * c * taps},
                {64, 1, uint32_t(t.bn)}};
      l.maps = {a, b};
      ASSERT_EQ(l.run(entry, &p, seed), "")
          << "C " << C << " K " << K << " R " << R << " seed " << seed;
      std::vector<double> out;
      for (In v : y)
        out.push_back(toDouble(v));
      ASSERT_EQ(compare(out, ref, tolerance<In>()), "")
          << "C " << C << " K " << K << " R " << R << " seed " << seed;
    }
  }
}

#define TMA_MATMUL(name, In, Out, A, B, VC, SW, G, MT, BY, ST, KS, SK, SC)     \
  TEST(Tma, name) {                                                            \
    matmul<In, Out>(#name, #A[0] == 'B', #B[0] == 'B', VC,                     \
                    tiling(SW, G, MT, BY, ST, KS, SK, Schedule::SC));          \
  }
#define TMA_CONV(name, In, VC, SW, G, MT, BY, ST, KS, SK, SC)                  \
  TEST(Tma, name) {                                                            \
    conv<In>(#name, tiling(SW, G, MT, BY, ST, KS, SK, Schedule::SC));          \
  }
#include "test/kernels/tma_cases.def"
} // namespace
