// SPDX-License-Identifier: Apache-2.0
// How well the tiling model predicts: times the candidates that it likes best
// for the convolutions of ResNet-50, beside its estimates.
//   tiling_bench source BATCH COUNT < tiling_bench.cu > bench.cu
//   nvrtc_check --cubins FOLDER INCLUDE 90a bench.cu
//   tiling_bench run BATCH COUNT FOLDER/bench.cubin
#include "codegen/tiling/ContractionTiling.h"
#include "test/kernels/Cuda.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>

using namespace dlc;
namespace {
struct Layer {
  int size, c, k, r, stride, count;
};
// Size of the input, channels in and out, filter, stride, how often.
constexpr Layer layers[] = {
    {224, 3, 64, 7, 2, 1},     {56, 64, 64, 1, 1, 1},
    {56, 64, 64, 3, 1, 3},     {56, 64, 256, 1, 1, 4},
    {56, 256, 64, 1, 1, 2},    {56, 256, 128, 1, 1, 1},
    {56, 128, 128, 3, 2, 1},   {28, 128, 512, 1, 1, 4},
    {56, 256, 512, 1, 2, 1},   {28, 512, 128, 1, 1, 3},
    {28, 128, 128, 3, 1, 3},   {28, 512, 256, 1, 1, 1},
    {28, 256, 256, 3, 2, 1},   {14, 256, 1024, 1, 1, 6},
    {28, 512, 1024, 1, 2, 1},  {14, 1024, 256, 1, 1, 5},
    {14, 256, 256, 3, 1, 5},   {14, 1024, 512, 1, 1, 1},
    {14, 512, 512, 3, 2, 1},   {7, 512, 2048, 1, 1, 3},
    {14, 1024, 2048, 1, 2, 1}, {7, 2048, 512, 1, 1, 2},
    {7, 512, 512, 3, 1, 2},    {1, 2048, 1000, 1, 1, 1}};

ContractionProblem problem(const Layer &l, int batch) {
  const int q = (l.size - 1) / l.stride + 1;
  ContractionProblem p;
  p.math = ContractionProblem::Math::F16;
  p.elementBytes = p.resultBytes = 2;
  p.m = int64_t(batch) * q * q;
  p.n = l.k;
  p.k = int64_t(l.c) * l.r * l.r;
  p.vectorA = p.vectorB = l.c % 8 ? 1 : 8;
  p.vectorC = 8;
  p.bytesA = int64_t(batch) * l.size * l.size * l.c * 2;
  p.workspaceAllowed = false;
  return p;
}

/// Microseconds of one launch among many; with overlap, as in a network.
double measure(test::Cuda &cuda, void *f, const ContractionTiling &t,
               const ContractionProblem &p, void **buffers) {
  const auto grid = uint32_t(t.tiles(p.m, p.n) * t.splitK);
  const auto shared = uint32_t(t.sharedBytes(p));
  const auto cluster =
      uint32_t(t.split == ContractionTiling::Split::Cluster ? t.splitK : 1);
  cuda.functionSetAttribute(f, 8, int(shared));
  void *begin, *end;
  cuda.eventCreate(&begin, 0);
  cuda.eventCreate(&end, 0);
  double best = 1e9;
  for (int round = 0; round < 3; round++) {
    constexpr int times = 20;
    for (int i = 0; i <= times; i++) {
      if (i == 1)
        cuda.eventRecord(begin, nullptr);
      const std::string e = cuda.launch(f, grid, uint32_t(t.threads()), shared,
                                        cluster, buffers, true);
      if (!e.empty()) {
        printf("%s\n", e.c_str());
        return 1e9;
      }
    }
    cuda.eventRecord(end, nullptr);
    if (cuda.synchronize())
      return 1e9;
    float ms = 0;
    cuda.eventElapsed(&ms, begin, end);
    best = std::min(best, ms * 1e3 / times);
  }
  return best;
}
} // namespace

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  const bool source = argv[1] == std::string("source");
  const int batch = atoi(argv[2]);
  const auto count = size_t(atoi(argv[3]));
  const Target target = llvm::cantFail(Target::parse("sm_90a"));
  auto name = [&](const Layer &l, const ContractionTiling &t) {
    return "k" + std::to_string(&l - layers) + "_" + t.name() + "_" +
           std::to_string(t.warpsM) + std::to_string(t.warpsN);
  };
  if (source) {
    std::cout << std::cin.rdbuf();
    for (const Layer &l : layers) {
      const auto p = problem(l, batch);
      for (const auto &t : rankContractionTilings(p, target, count))
        printf("BENCH(%s, %d, half_t, %d, 8, %d, %d, %d, %d, %d, %d, %s)\n",
               name(l, t).c_str(), t.threads(), p.vectorA, batch, l.size, l.c,
               l.k, l.r, l.stride, t.config().c_str());
    }
    return 0;
  }
  auto &cuda = test::Cuda::get();
  void *module = cuda.load(argv[4]);
  if (!module) {
    puts("no GPU, or not its cubin");
    return 77;
  }
  // Random halves of about 1: power, and so the clock, depends on the data.
  std::vector<uint16_t> data(64 << 20);
  std::mt19937 rng(1);
  for (auto &x : data)
    x = uint16_t(0x3000 | (rng() & 0x8bff));
  void *buffers[4];
  for (auto &b : buffers) {
    const uint64_t d = cuda.allocate(size_t(batch) * 224 * 224 * 64 * 2 + 1024);
    b = reinterpret_cast<void *>(d);
    cuda.copyIn(
        d, data.data(),
        std::min(data.size() * 2, size_t(batch) * 224 * 224 * 64 * 2 + 1024));
  }
  double chosen = 0, best = 0;
  for (const Layer &l : layers) {
    const auto p = problem(l, batch);
    double first = 0, fastest = 1e9;
    std::string which;
    for (const auto &t : rankContractionTilings(p, target, count)) {
      void *f = cuda.function(module, name(l, t));
      const double us = f ? measure(cuda, f, t, p, buffers) : 1e9;
      printf(
          "%4d %4d-%-4d %dx%d/%d %-22s estimate %7.2f measured %7.2f us\n",
          l.size, l.c, l.k, l.r, l.r, l.stride,
          (t.name() + "_" + std::to_string(t.warpsM) + std::to_string(t.warpsN))
              .c_str(),
          t.microseconds, us);
      if (first == 0)
        first = us;
      if (us < fastest) {
        fastest = us;
        which = t.name();
      }
    }
    printf("  chosen %.2f, best %.2f (%s)\n", first, fastest, which.c_str());
    chosen += first * l.count;
    best += fastest * l.count;
  }
  printf("batch %d, the network's convolutions: chosen %.1f us, best of %zu "
         "%.1f us\n",
         batch, chosen, count, best);
}
