// SPDX-License-Identifier: Apache-2.0
// How well the tiling model predicts: times candidates that it likes for the
// convolutions of ResNet-50, beside its estimates.
//   tiling_bench source BATCH COUNT FOLDER < tiling_bench.cu
//   nvrtc_check --cubins FOLDER INCLUDE 90a FOLDER/layer*.cu
//   tiling_bench run BATCH COUNT FOLDER
#include "codegen/tiling/ContractionTiling.h"
#include "test/kernels/Cuda.h"
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

using namespace dlc;
namespace {
struct Layer {
  int size, c, k, r, stride, residual, count;
};
// Size of the input, channels in and out, filter, stride, how often.
constexpr Layer layers[] = {
    {224, 3, 64, 7, 2, 0, 1},    {56, 64, 64, 1, 1, 0, 1},
    {56, 64, 64, 3, 1, 0, 3},    {56, 64, 256, 1, 1, 1, 3},
    {56, 64, 256, 1, 1, 0, 1},   {56, 256, 64, 1, 1, 0, 2},
    {56, 256, 128, 1, 1, 0, 1},  {56, 128, 128, 3, 2, 0, 1},
    {28, 128, 512, 1, 1, 1, 4},  {56, 256, 512, 1, 2, 0, 1},
    {28, 512, 128, 1, 1, 0, 3},  {28, 128, 128, 3, 1, 0, 3},
    {28, 512, 256, 1, 1, 0, 1},  {28, 256, 256, 3, 2, 0, 1},
    {14, 256, 1024, 1, 1, 1, 6}, {28, 512, 1024, 1, 2, 0, 1},
    {14, 1024, 256, 1, 1, 0, 5}, {14, 256, 256, 3, 1, 0, 5},
    {14, 1024, 512, 1, 1, 0, 1}, {14, 512, 512, 3, 2, 0, 1},
    {7, 512, 2048, 1, 1, 1, 3},  {14, 1024, 2048, 1, 2, 0, 1},
    {7, 2048, 512, 1, 1, 0, 2},  {7, 512, 512, 3, 1, 0, 2},
    {1, 2048, 1000, 1, 1, 0, 1}};

int pixels(const Layer &l) { return (l.size - 1) / l.stride + 1; }
ContractionProblem problem(const Layer &l, int batch) {
  const int q = pixels(l);
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
  p.mapped = l.c % 8 == 0;
  p.taps = l.r * l.r;
  p.epilogueBytes = l.residual * 2;
  return p;
}

/// The best ones, but two of one tile, and two that copy with all threads.
std::vector<ContractionTiling> candidates(const ContractionProblem &p,
                                          const Target &target, size_t count) {
  std::vector<ContractionTiling> some;
  std::map<std::string, int> tiles;
  int others = 0;
  for (const auto &t : rankContractionTilings(p, target, 100000)) {
    if (some.size() == count)
      break;
    const std::string tile = std::to_string(t.bm) + "x" + std::to_string(t.bn) +
                             (t.swap ? "s" : "") +
                             std::to_string(int(t.schedule) * 16 + t.splitK);
    if (t.tma || !p.mapped ? tiles[tile]++ < 2 : others++ < 2)
      some.push_back(t);
  }
  return some;
}

struct alignas(64) Parameters {
  uint8_t map[2][128];
  uint64_t buffer[5];
};

/// Activations and weights of one layer, several times: more than L2 holds.
class Memory {
public:
  Memory(test::Cuda &cuda, size_t bytes) : cuda(cuda), bytes(bytes) {
    // Random halves of about 1: power, and so the clock, depends on the data.
    std::vector<uint16_t> data(bytes / 2);
    std::mt19937 rng(1);
    for (auto &x : data)
      x = uint16_t(0x3000 | (rng() & 0x8bff));
    base = cuda.allocate(bytes);
    cuda.copyIn(base, data.data(), bytes);
  }
  void reset() { next = 0; }
  uint64_t take(size_t n) {
    n = (n + 255) / 256 * 256;
    if (next + n > bytes)
      next = 0;
    const uint64_t at = base + next;
    next += n;
    return at;
  }

private:
  test::Cuda &cuda;
  size_t bytes, next = 0;
  uint64_t base = 0;
};

Parameters parameters(test::Cuda &cuda, const Layer &l, int batch,
                      const ContractionTiling &t, Memory &memory) {
  const auto n = uint64_t(batch), s = uint64_t(l.size), c = uint64_t(l.c),
             k = uint64_t(l.k), taps = uint64_t(l.r * l.r),
             q = uint64_t(pixels(l));
  Parameters p{};
  p.buffer[0] = memory.take(n * s * s * c * 2);
  p.buffer[1] = memory.take(k * taps * c * 2);
  p.buffer[2] = memory.take(n * q * q * k * 2);
  p.buffer[3] = memory.take(k * 4);
  p.buffer[4] = memory.take(n * q * q * k * 2);
  if (!t.tma)
    return p;
  const auto bm = uint32_t(t.bm), bn = uint32_t(t.bn);
  test::MapOver a{0, 6, 2, {c, n * s * s}, {2 * c}, {64, bm}};
  test::MapOver b{1, 6, 2, {c, k}, {2 * c}, {64, bn}};
  if (l.r > 1 || l.stride > 1) {
    const int pad = l.r / 2;
    const auto step = uint32_t(l.stride);
    a = {0,
         6,
         4,
         {c, s, s, n},
         {2 * c, 2 * c * s, 2 * c * s * s},
         {64, bm},
         true,
         {-pad, -pad},
         {pad - (l.r - 1), pad - (l.r - 1)},
         {step, step}};
    b = {1, 6, 3, {c, taps, k}, {2 * c, 2 * c * taps}, {64, 1, bn}};
  }
  for (const std::string &e : {cuda.encode(a, p.buffer[0], p.map[0]),
                               cuda.encode(b, p.buffer[1], p.map[1])})
    if (!e.empty())
      printf("%s\n", e.c_str());
  return p;
}

double measure(test::Cuda &cuda, void *f, const Layer &l, int batch,
               const ContractionTiling &t, Memory &memory) {
  const auto p = problem(l, batch);
  const int64_t tiles = t.tiles(p.m, p.n);
  const auto grid = uint32_t(t.isPersistent() ? std::min<int64_t>(tiles, 132)
                                              : tiles * t.splitK);
  const auto shared = uint32_t(t.sharedBytes(p));
  const auto cluster =
      uint32_t(t.split == ContractionTiling::Split::Cluster ? t.splitK : 1);
  cuda.functionSetAttribute(f, 8, int(shared));
  memory.reset();
  return cuda.replay(batch > 8 ? 16 : 64, [&](int, void *stream) {
    Parameters own = parameters(cuda, l, batch, t, memory);
    return cuda.launch(f, grid, uint32_t(t.threads()), shared, cluster, &own,
                       true, stream);
  });
}
} // namespace

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  const bool source = argv[1] == std::string("source");
  const int batch = atoi(argv[2]);
  const auto count = size_t(atoi(argv[3]));
  const std::string folder = argv[4];
  const Target target = llvm::cantFail(Target::parse("sm_90a"));
  auto name = [&](const Layer &l, const ContractionTiling &t) {
    return "k" + std::to_string(&l - layers) + "_" + t.name() + "_" +
           std::to_string(t.warpsM) + std::to_string(t.warpsN) +
           std::to_string(t.groups);
  };
  auto file = [&](const Layer &l) {
    return folder + "/layer" + std::to_string(&l - layers) + "_" +
           std::to_string(batch);
  };
  if (source) {
    std::stringstream head;
    head << std::cin.rdbuf();
    for (const Layer &l : layers) {
      const auto p = problem(l, batch);
      std::ofstream out(file(l) + ".cu");
      out << head.str();
      for (const auto &t : candidates(p, target, count)) {
        out << (t.tma ? "BENCH_TMA(" : "BENCH(") << name(l, t) << ", half_t, "
            << p.vectorA << ", 8";
        for (int x : {batch, l.size, l.c, l.k, l.r, l.stride, l.residual,
                      t.threads(), t.minBlocks()})
          out << ", " << x;
        out << ", " << t.config() << ")\n";
      }
    }
    return 0;
  }
  auto &cuda = test::Cuda::get();
  if (!cuda.ready) {
    puts("no GPU");
    return 77;
  }
  Memory memory(cuda, size_t(1) << 31);
  double chosen = 0, best = 0;
  for (const Layer &l : layers) {
    const auto p = problem(l, batch);
    void *module = cuda.load(file(l) + ".cubin");
    double first = 0, fastest = 1e9;
    std::string which;
    for (const auto &t : candidates(p, target, count)) {
      void *f = module ? cuda.function(module, name(l, t)) : nullptr;
      const double us = f ? measure(cuda, f, l, batch, t, memory) : -1;
      printf("%3d %4d-%-4d %dx%d/%d %-28s estimate %7.2f measured %7.2f us\n",
             l.size, l.c, l.k, l.r, l.r, l.stride, name(l, t).c_str(),
             t.microseconds, us);
      if (us <= 0)
        continue;
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
