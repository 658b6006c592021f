// SPDX-License-Identifier: Apache-2.0
// window.cuh on the emulator against loops in f64.
#include "test/kernels/Harness.h"
#include <gtest/gtest.h>

namespace {
using namespace test;
enum Kind { Max, Average, Depthwise };
template <class In>
void window(const char *name, Kind kind, int V, bool last, int R, int S,
            int stride, int pad, int dilation) {
  static const Module kernels(DLC_WINDOW_KERNELS, "window");
  const auto entry = kernels.entry(name);
  ASSERT_TRUE(entry);
  std::mt19937 rng(11);
  struct Params {
    void *buffer[3];
    int64_t symbol[6];
  };
  const int sizes[][4] = {{1, 3, 17, 15}, {2, 10, 13, 21}, {3, 24, 14, 14}};
  for (const auto &[N, C0, H, W] : sizes) {
    const int C = (C0 + V - 1) / V * V;
    const int P = (H + 2 * pad - dilation * (R - 1) - 1) / stride + 1,
              Q = (W + 2 * pad - dilation * (S - 1) - 1) / stride + 1;
    auto x = randomData<In>(size_t(N * C * H * W), 1, rng);
    auto w = randomData<In>(size_t(R * S * C), 0.3, rng);
    // A NaN wins every maximum that it takes part in.
    if (kind == Max)
      x[x.size() / 2] = fromDouble<In>(NAN);
    std::vector<double> ref(size_t(N * C * P * Q));
    auto at = [&, last = last](int n, int c, int y, int z, int h, int v) {
      return size_t(last ? ((n * h + y) * v + z) * C + c
                         : ((n * C + c) * h + y) * v + z);
    };
    for (int n = 0; n < N; n++)
      for (int c = 0; c < C; c++)
        for (int oy = 0; oy < P; oy++)
          for (int ox = 0; ox < Q; ox++) {
            double v = kind == Max ? -INFINITY : 0;
            int cells = 0;
            for (int r = 0; r < R; r++)
              for (int s = 0; s < S; s++) {
                const int y = oy * stride - pad + r * dilation,
                          z = ox * stride - pad + s * dilation;
                if (y < 0 || y >= H || z < 0 || z >= W)
                  continue;
                cells++;
                const double a = toDouble(x[at(n, c, y, z, H, W)]);
                if (kind == Max)
                  v = std::isnan(v) || v > a ? v : a;
                else
                  v += kind == Average
                           ? a
                           : a * toDouble(w[size_t((r * S + s) * C + c)]);
              }
            ref[at(n, c, oy, ox, P, Q)] = kind == Average ? v / cells : v;
          }
    for (uint64_t seed : kSeeds) {
      std::vector<In> y(ref.size());
      memset(y.data(), 0x5A, y.size() * sizeof(In));
      Params p{{x.data(), y.data(), w.data()}, {N, C, H, W, P, Q}};
      Launcher l;
      l.grid = uint32_t(ref.size()) / (64 * V) + 1;
      l.threads = 64;
      l.reads(x);
      l.reads(w);
      l.writes(y);
      ASSERT_EQ(l.run(entry, &p, seed), "");
      std::vector<double> out, expected = ref;
      for (size_t i = 0; i < y.size(); i++) {
        out.push_back(toDouble(y[i]));
        ASSERT_EQ(std::isnan(out[i]), std::isnan(ref[i])) << "element " << i;
        if (std::isnan(ref[i]))
          out[i] = expected[i] = 0;
      }
      ASSERT_EQ(compare(out, expected, tolerance<In>()), "")
          << N << "x" << C << "x" << H << "x" << W << " seed " << seed;
    }
  }
}
#define WINDOW(name, kind, In, V, Last, R, S, stride, pad, dilation)           \
  TEST(Window, name) {                                                         \
    window<In>(#name, kind, V, Last, R, S, stride, pad, dilation);             \
  }
#include "test/kernels/window_cases.def"
} // namespace
