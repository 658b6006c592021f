// SPDX-License-Identifier: Apache-2.0
// The engine's own test: a warp-specialised TMA and wgmma kernel (cooperative,
// ping-pong, multicast, split k in clusters) over convolutions of ResNet-50.
// mutants.py seeds bugs into the same kernel.
#include "test/kernels/Harness.h"
#include <gtest/gtest.h>

namespace {
using namespace test;
struct alignas(64) Map {
  uint8_t bytes[128];
};
struct Args { // IgemmArgs of igemm.cuh
  int M, N, kb, tx, ty, group, P, Q, stride, pad, S, RS, C, trigger;
  float scale;
  uint32_t floor2;
  const float *bias;
  void *out;
};
struct Params {
  Map activations, weights, out, residual;
  Args a;
};
struct Info {
  int threads, smem, cluster, BP, BC, BX, BY, MC, SK, PR, swap, latency;
};
Map tile(const void *p, uint64_t columns, uint64_t rows, int box) {
  Map m;
  const uint64_t dims[] = {columns, rows}, strides[] = {columns * 2};
  const uint32_t boxes[] = {64, uint32_t(box)};
  EXPECT_EQ(dlc_host_encode_tiled(&m, p, 2, 2, dims, strides, boxes, 128), 0);
  return m;
}
struct Layer {
  int size, c, k, r, stride;
  bool residual;
};

void igemm(const std::string &config) {
  static const Module kernels(DLC_IGEMM_KERNELS, "igemm");
  if (kernels.onGpu())
    GTEST_SKIP() << "a test of the emulator";
  const auto *info =
      static_cast<const Info *>(kernels.symbol("info_" + config));
  if (!info && getenv("DLC_TEST_KERNELS"))
    GTEST_SKIP() << "not among the mutants' kernels";
  ASSERT_TRUE(info);
  const Layer layers[] = {
      {14, 128, 128, 1, 1, true}, {14, 64, 192, 3, 1, false},
      {15, 128, 64, 3, 2, true},  {7, 512, 128, 1, 1, false},
      {28, 256, 128, 1, 2, true}, {7, 256, 256, 3, 1, true}};
  std::mt19937 rng(3);
  for (const Layer &l : layers) {
    const bool conv = l.r > 1 || l.stride > 1;
    const int pad = l.r / 2, o = (l.size + 2 * pad - l.r) / l.stride + 1,
              M = o * o, K = l.r * l.r * l.c, kb = K / 64;
    if (kb < info->SK)
      continue;
    auto x = randomData<half_t>(size_t(l.size * l.size * l.c), 1, rng);
    auto w = randomData<half_t>(size_t(l.k * K), 1 / std::sqrt(K), rng);
    auto res = randomData<half_t>(size_t(M * l.k), 1, rng);
    auto bias = randomData<float>(size_t(l.k), 1, rng);
    std::vector<double> ref(res.size()), xd, wd;
    for (half_t v : x)
      xd.push_back(toDouble(v));
    for (half_t v : w)
      wd.push_back(toDouble(v));
    for (int m = 0; m < M; m++)
      for (int n = 0; n < l.k; n++) {
        double v = bias[size_t(n)];
        if (l.residual)
          v += toDouble(res[size_t(m * l.k + n)]);
        for (int f = 0; f < l.r * l.r; f++) {
          const int y = m / o * l.stride - pad + f / l.r,
                    z = m % o * l.stride - pad + f % l.r;
          if (y < 0 || z < 0 || y >= l.size || z >= l.size)
            continue;
          for (int c = 0; c < l.c; c++)
            v += xd[size_t((y * l.size + z) * l.c + c)] *
                 wd[size_t((n * l.r * l.r + f) * l.c + c)];
        }
        ref[size_t(m * l.k + n)] = std::max(v, 0.0);
      }
    for (uint64_t seed : {7, 8, 0}) {
      std::vector<half_t> y(ref.size());
      memset(y.data(), 0xFF, y.size() * 2);
      Params p{};
      const int tp = (M + info->BP - 1) / info->BP,
                tc = (l.k + info->BC - 1) / info->BC, tx = info->swap ? tc : tp;
      p.a = {M,
             l.k,
             kb,
             (tx + info->MC - 1) / info->MC,
             info->swap ? tp : tc,
             1,
             o,
             o,
             l.stride,
             pad,
             l.r,
             l.r * l.r,
             l.c,
             0,
             1.f,
             0,
             bias.data(),
             y.data()};
      if (info->swap)
        p.a.group = p.a.tx;
      const int tiles = p.a.tx * p.a.ty;
      const int abox = info->swap ? info->BY / info->MC : info->BX,
                wbox = info->swap ? info->BX : info->BY / info->MC;
      if (conv) {
        const auto s = uint64_t(l.size), c = uint64_t(l.c);
        const uint64_t dims[] = {c, s, s, 1},
                       strides[] = {c * 2, s * c * 2, s * s * c * 2};
        const int32_t lower[] = {-pad, -pad},
                      upper[] = {pad - (l.r - 1), pad - (l.r - 1)};
        const uint32_t step[] = {uint32_t(l.stride), uint32_t(l.stride)};
        ASSERT_EQ(dlc_host_encode_im2col(&p.activations, x.data(), 2, dims,
                                         strides, lower, upper, 64,
                                         uint32_t(abox), step, 128),
                  0);
      } else
        p.activations = tile(x.data(), uint64_t(l.c), uint64_t(M), abox);
      p.weights = tile(w.data(), uint64_t(K), uint64_t(l.k), wbox);
      p.out = tile(y.data(), uint64_t(l.k), uint64_t(M), info->PR);
      p.residual = tile(res.data(), uint64_t(l.k), uint64_t(M), info->PR);
      Launcher launch;
      launch.grid = uint32_t(info->latency ? tiles * info->SK
                                           : std::min(tiles * info->MC, 132));
      launch.threads = uint32_t(info->threads);
      launch.cluster = uint32_t(info->cluster);
      launch.smem = uint32_t(info->smem);
      launch.reads(x);
      launch.reads(w);
      launch.reads(res);
      launch.reads(bias);
      launch.writes(y);
      const std::string name =
          (conv ? "c_" : "g_") + config + (l.residual ? "_r" : "");
      ASSERT_EQ(launch.run(kernels.entry(name), &p, seed), "")
          << name << " seed " << seed;
      std::vector<double> out;
      for (half_t v : y)
        out.push_back(toDouble(v));
      ASSERT_EQ(compare(out, ref, tolerance<half_t>()), "")
          << name << " " << l.size << "x" << l.c << "-" << l.k << " seed "
          << seed;
    }
  }
}
#define IGEMM(n, ...)                                                          \
  TEST(Igemm, n) { igemm(#n); }
#include "test/kernels/igemm/configs.def"
} // namespace
