// SPDX-License-Identifier: Apache-2.0
// image_conv.cuh on the emulator against loops in f64.
#include "test/kernels/Harness.h"
#include <gtest/gtest.h>

namespace {
using namespace test;
struct Axis {
  int in, filter, stride, low, out, window, step, windowLow, pooled;
};
struct Case {
  int channels, outputs, parts;
  Axis y, x;
  int BM, BN, rows, columns;
  bool wgmma;

  int padded() const {
    return channels <= 1 ? 1 : channels <= 2 ? 2 : channels <= 4 ? 4 : 8;
  }
  int perChunk() const { return 8 / padded(); }
  int pairs() const {
    return (x.filter + 2 * perChunk() - 1) / (2 * perChunk());
  }
  int steps() const { return parts * y.filter * pairs(); }
  int tiles() const { return (outputs + BM - 1) / BM; }
  uint32_t grid(int images) const {
    return uint32_t(images * tiles() * ((y.pooled + rows - 1) / rows) *
                    ((x.pooled + columns - 1) / columns));
  }
  uint32_t smem() const {
    int phases = 0;
    for (int r = 0; r < x.stride; r++) {
      bool used = false;
      for (int j = 0; j < 2 * pairs(); j++)
        used |= j * perChunk() % x.stride == r;
      phases += used;
    }
    const int chunks =
        phases * (BN + perChunk() * (2 * pairs() - 1) / x.stride);
    const int results = std::min((rows - 1) * y.step + y.window, y.out);
    const int weights = steps() * BM * 32, staging = BN * (BM * 2 + 16);
    return uint32_t((wgmma && steps() <= 16 ? std::max(weights, staging)
                                            : weights + staging) +
                    ((results - 1) * y.stride + y.filter) * chunks * 16);
  }
};

template <class In, class Source> void imageConv(const char *name, Case c) {
  static const Module kernels(DLC_IMAGE_CONV_KERNELS, "image_conv");
  const auto entry = kernels.entry(name);
  if (!entry && getenv("DLC_TEST_KERNELS"))
    GTEST_SKIP() << "not among the mutants' kernels";
  ASSERT_TRUE(entry);
  std::mt19937 rng(5);
  const int R = c.y.filter, S = c.x.filter, C = c.channels;
  struct {
    void *buffer[4];
    int64_t symbol[1];
  } p;
  for (int N : {1, 3}) {
    auto x = randomData<Source>(size_t(N * C * c.y.in * c.x.in), 1, rng);
    std::vector<double> w(size_t(c.outputs * C * R * S));
    // Its parts, where the kernel wants them.
    std::vector<In> weights(size_t(c.tiles() * c.steps() * 2 * c.BM * 8), In{});
    for (int part = 0; part < c.parts; part++) {
      auto one = randomData<In>(
          w.size(), std::pow(0.01, part) / std::sqrt(C * R * S), rng);
      for (int o = 0; o < c.outputs; o++)
        for (int ch = 0; ch < C; ch++)
          for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++) {
              const auto at = size_t(((o * C + ch) * R + r) * S + s);
              w[at] += toDouble(one[at]);
              const int tap = s / c.perChunk();
              const int step = (part * R + r) * c.pairs() + tap / 2;
              weights[size_t(
                  (((o / c.BM * c.steps() + step) * 2 + tap % 2) * c.BM +
                   o % c.BM) *
                      8 +
                  s % c.perChunk() * c.padded() + ch)] = one[at];
            }
    }
    auto bias = randomData<float>(size_t(c.outputs), 1, rng);
    std::vector<double> full(size_t(c.outputs * c.y.out * c.x.out)), ref;
    for (int n = 0; n < N; n++) {
      for (int o = 0; o < c.outputs; o++)
        for (int oy = 0; oy < c.y.out; oy++)
          for (int ox = 0; ox < c.x.out; ox++) {
            double v = bias[size_t(o)];
            for (int r = 0; r < R; r++)
              for (int s = 0; s < S; s++) {
                const int iy = oy * c.y.stride - c.y.low + r,
                          ix = ox * c.x.stride - c.x.low + s;
                if (iy < 0 || iy >= c.y.in || ix < 0 || ix >= c.x.in)
                  continue;
                for (int ch = 0; ch < C; ch++)
                  v += toDouble(fromDouble<In>(toDouble(x[size_t(
                           ((n * C + ch) * c.y.in + iy) * c.x.in + ix)]))) *
                       w[size_t(((o * C + ch) * R + r) * S + s)];
              }
            full[size_t((o * c.y.out + oy) * c.x.out + ox)] =
                std::max(v, 0.01 * (oy - ox));
          }
      for (int py = 0; py < c.y.pooled; py++)
        for (int px = 0; px < c.x.pooled; px++)
          for (int o = 0; o < c.outputs; o++) {
            double v = -INFINITY;
            for (int r = 0; r < c.y.window; r++)
              for (int s = 0; s < c.x.window; s++) {
                const int oy = py * c.y.step - c.y.windowLow + r,
                          ox = px * c.x.step - c.x.windowLow + s;
                if (oy >= 0 && oy < c.y.out && ox >= 0 && ox < c.x.out)
                  v = std::max(v,
                               full[size_t((o * c.y.out + oy) * c.x.out + ox)]);
              }
            ref.push_back(v);
          }
    }
    for (uint64_t seed : kSeeds) {
      std::vector<In> out(ref.size());
      memset(out.data(), 0xFF, out.size() * sizeof(In));
      p = {{x.data(), weights.data(), out.data(), bias.data()}, {N}};
      Launcher l;
      l.grid = c.grid(N) + 1; // one block has nothing to do
      l.threads = uint32_t(2 * c.BM);
      l.smem = c.smem();
      l.reads(x);
      l.reads(weights);
      l.reads(bias);
      l.writes(out);
      ASSERT_EQ(l.run(entry, &p, seed), "") << "seed " << seed;
      std::vector<double> values;
      for (In v : out)
        values.push_back(toDouble(v));
      ASSERT_EQ(compare(values, ref, tolerance<In>()), "")
          << N << " images, seed " << seed;
    }
  }
}
#define AXIS(...)                                                              \
  Axis { __VA_ARGS__ }
#define IMAGE_CONV(name, In, Source, channels, outputs, parts, Y, X, BM, BN,   \
                   rows, columns, wgmma)                                       \
  TEST(ImageConv, name) {                                                      \
    imageConv<In, Source>(#name, {channels, outputs, parts, Y, X, BM, BN,      \
                                  rows, columns, wgmma});                      \
  }
#include "test/kernels/image_conv_cases.def"
} // namespace
