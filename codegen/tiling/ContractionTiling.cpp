// SPDX-License-Identifier: Apache-2.0
// Tiles of contractions by price. The constants are those measured on an H200
// (docs): what a block's step of k costs is the largest of the tensor cores'
// time, of shared memory's, of the copies' from L2, and of a fixed latency.
#include "codegen/tiling/ContractionTiling.h"

#include <algorithm>
#include <cmath>

using namespace dlc;
using Math = ContractionProblem::Math;
using Split = ContractionTiling::Split;

bool dlc::hasTensorCores(Math math, const Target &target) {
  switch (math) {
  case Math::F16:
    return target.isHost() || target.sm >= 75;
  case Math::BF16:
  case Math::TF32:
  case Math::S8:
    return target.isHost() || target.sm >= 80;
  case Math::F32:
  case Math::F64:
  case Math::Integer:
    return false;
  }
  return false;
}

namespace {
struct Rates {
  double flopsPerClock; ///< of one multiprocessor
  double clock;         ///< Hz
};

Rates rates(const ContractionProblem &p, const Target &t, bool tensorCores) {
  // Without a clock in the target: fp32 units tell it (128 FMA a clock from
  // sm_86 on, else 64).
  const int lanes = t.sm == 75 || t.sm == 80 ? 64 : 128;
  const double clock = t.fp32Flops / (double(t.multiprocessors) * lanes * 2);
  double flops = t.fp32Flops;
  // mma.sync reaches about 60 % of what wgmma does on sm_90.
  const double share = t.sm >= 90 ? 0.6 : 0.85;
  if (tensorCores)
    flops = share * (p.math == Math::TF32 ? t.tf32Flops
                     : p.math == Math::S8 ? t.int8Ops
                                          : t.fp16Flops);
  else if (p.math == Math::F64)
    flops = t.sm == 80 || t.sm == 90 ? t.fp32Flops / 2 : t.fp32Flops / 32;
  else
    flops *= 0.7;
  return {flops / clock / t.multiprocessors, clock};
}

/// Estimate in seconds; infinite when the tile does not fit.
double price(const ContractionProblem &p, const Target &t,
             const ContractionTiling &c) {
  const double never = INFINITY;
  const int64_t shared = c.sharedBytes(p);
  if (shared > t.sharedPerBlock)
    return never;
  const int threads = c.threads(), warps = threads / 32;
  const int sums = c.bm * c.bn / threads * p.accumulatorBytes / 4;
  const int wm = c.bm / c.warpsM, wn = c.bn / c.warpsN;
  const int registers =
      c.wgmma ? std::min(255, sums + 90)
              : std::min(255, sums + wm / 16 * 4 + wn / 8 * 2 + 56);
  if (sums > 128)
    return never;
  const int64_t fit = std::min<int64_t>(
      {t.sharedPerSm / (shared + 1024), 2048 / threads,
       t.registersPerSm / (int64_t(threads) * registers), 16});
  if (fit < 1)
    return never;

  const Rates r = rates(p, t, c.tensorCores);
  const double stepBytes = double(c.bm + c.bn) * c.bk * p.elementBytes;
  const int slices = c.bk * p.elementBytes / 32;
  double product = 2.0 * c.bm * c.bn * c.bk / r.flopsPerClock;
  // A block with few warps does not fill the units.
  product *= std::max(1.0, 4.0 / warps);
  if (c.wgmma) // a slice of k: the tensor core, or reading A and B
    product = c.bm / 64 * 4.0 * std::max(c.bn / 2.0, 16 + c.bn / 4.0);
  const double sharedReads =
      c.wgmma ? 0 : double(warps) * (wm + wn) * c.bk * p.elementBytes / 128;
  // Elements one by one cost instructions instead of bandwidth.
  double copies = stepBytes / 44;
  auto elements = [&](int rows, int vector) {
    return vector == 1 ? double(rows) * c.bk / 128 * 24
                       : double(rows) * c.bk / vector / 128 * 6;
  };
  copies =
      std::max(copies, elements(c.bm, p.vectorA) + elements(c.bn, p.vectorB));
  const double latency = c.wgmma         ? 150.0 + product
                         : c.tensorCores ? 90.0 + 45.0 * slices
                                         : 60.0 + 160.0 * slices;
  // Stages in flight share the memory's latency.
  const int ahead = c.wgmma ? c.stages - 2 : c.stages - 1;
  const double exposed = std::max(latency, 850.0 / ahead) + 40;

  const int64_t tiles = p.batch * c.tiles(p.m, p.n) * c.splitK;
  const int64_t slots = fit * t.multiprocessors;
  const auto resident = double(std::min<int64_t>(
      fit, (tiles + t.multiprocessors - 1) / t.multiprocessors));
  const double steps =
      std::ceil(std::ceil(double(p.k) / c.bk) / double(c.splitK));
  const double step = std::max(
      {resident * product, resident * sharedReads, resident * copies, exposed});
  const double waves = tiles <= slots ? 1.0
                       : tiles < 4 * slots
                           ? std::ceil(double(tiles) / double(slots))
                           : double(tiles) / double(slots) + 0.5;
  const double store =
      500 + double(c.bm) * c.bn / threads * 8 * resident * (warps / 4.0);
  double clocks = waves * (steps * step + 1200 + store);
  double seconds = clocks / r.clock + 1.2e-6;
  if (c.split == Split::Cluster)
    seconds += 0.5e-6 + 0.05e-6 * c.splitK;
  if (c.split == Split::Workspace)
    seconds += 1.5e-6 + 2.0 * double(tiles) * c.bm * c.bn * p.accumulatorBytes /
                            (t.bandwidth * 1.5);
  const double memory = memorySeconds(p, t);
  // A little of the lesser, so that it still counts among equals.
  return std::max(seconds, memory) + 0.05 * std::min(seconds, memory);
}

/// Few threads, so few fibers; tiles small enough for a first-level cache.
ContractionTiling hostTiling(const ContractionProblem &p) {
  ContractionTiling c;
  c.tensorCores =
      p.math != Math::F32 && p.math != Math::F64 && p.math != Math::Integer;
  c.warpsM = c.warpsN = 1;
  c.stages = 2;
  c.bk = 128 / p.elementBytes;
  c.bm = p.m <= 16 ? 16 : p.m <= 32 ? 32 : 64;
  c.bn = p.n <= 16 ? 16 : p.n <= 32 ? 32 : 64;
  if (p.m * p.batch >= 2048 && p.n >= 64)
    c.bm = 128;
  if (p.transposedB)
    c.bn = std::max(c.bn, 16 / p.elementBytes);
  return c;
}
} // namespace

double dlc::memorySeconds(const ContractionProblem &p, const Target &t) {
  const double a =
      p.bytesA ? double(p.bytesA)
               : double(p.batch) * double(p.m) * double(p.k) * p.elementBytes;
  const double bytes =
      a + double(p.batch) * double(p.n) * double(p.k) * p.elementBytes +
      double(p.batch) * double(p.m) * double(p.n) *
          double(p.resultBytes + p.epilogueBytes);
  return bytes / (0.85 * t.bandwidth) + 1.5e-6;
}

std::vector<ContractionTiling>
dlc::rankContractionTilings(const ContractionProblem &p, const Target &t,
                            size_t count) {
  if (t.isHost())
    return {hostTiling(p)};
  std::vector<ContractionTiling> all;
  ContractionTiling c;
  c.tensorCores = hasTensorCores(p.math, t);
  const bool clusters = t.kind == Target::Kind::Cubin && t.sm >= 90;
  // Adds c with every split of k that makes sense.
  auto add = [&] {
    const int threads = c.threads(), rowBytes = c.bk * p.elementBytes;
    // A row loader keeps at most 16 rows of a thread.
    const int rows = 16 * threads * 16 / rowBytes;
    if (c.bm > rows || c.bn > rows)
      return;
    const int64_t steps = (p.k + c.bk - 1) / c.bk;
    for (c.splitK = 1; c.splitK <= 8; c.splitK *= 2) {
      c.split = Split::None;
      if (c.splitK > 1) {
        if (steps < 2 * c.splitK)
          break;
        if (clusters && c.bm % c.splitK == 0)
          c.split = Split::Cluster;
        else if (p.workspaceAllowed)
          c.split = Split::Workspace;
        else
          break;
      }
      // Measured on an H200 beside those with tensor maps, 16-bit products took
      // about twice as long as the sum of their parts.
      const bool halves = p.math == Math::F16 || p.math == Math::BF16;
      const double s = price(p, t, c) * (t.sm == 90 && halves ? 1.9 : 1.0);
      if (s == INFINITY)
        continue;
      c.microseconds = s * 1e6;
      const int64_t blocks = p.batch * c.tiles(p.m, p.n) * c.splitK;
      c.earlyLaunch = blocks <= 2 * t.multiprocessors;
      all.push_back(c);
    }
  };
  for (int rowBytes : {128, 64, 32})
    for (c.warpsM = 1; c.warpsM <= 4; c.warpsM *= 2)
      for (c.warpsN = 1; c.warpsN <= 4; c.warpsN *= 2)
        for (int wm = 16; wm <= 64; wm *= 2)
          for (int wn = 16; wn <= 64; wn *= 2)
            for (c.stages = 2; c.stages <= 5; c.stages++) {
              c.bk = rowBytes / p.elementBytes;
              c.bm = c.warpsM * wm;
              c.bn = c.warpsN * wn;
              // Below sm_80 copies are synchronous: stages are waste.
              if (c.threads() >= 64 && c.threads() <= 256 &&
                  (t.hasCpAsync() || c.stages == 2))
                add();
            }
  if (t.arch == "sm_90a" && !p.transposedB && !p.mapped &&
      (p.math == Math::F16 || p.math == Math::BF16)) {
    c.wgmma = true;
    c.warpsN = 1;
    c.bk = 64;
    for (int groups : {1, 2})
      for (c.mTiles = 1; c.mTiles <= 2; c.mTiles++)
        for (int bn : {32, 64, 96, 128, 192, 256})
          for (c.stages = 3; c.stages <= 6; c.stages++) {
            c.warpsM = 4 * groups;
            c.bm = 64 * groups * c.mTiles;
            c.bn = bn;
            add();
          }
  }
  if (t.arch == "sm_90a" && p.mapped)
    for (const ContractionTiling &tma : mapTilings(p, t))
      all.push_back(tma);
  // Equal prices: the first in order of enumeration, so that it is the same
  // on every machine.
  std::stable_sort(all.begin(), all.end(),
                   [](const ContractionTiling &a, const ContractionTiling &b) {
                     return a.microseconds < b.microseconds;
                   });
  if (all.size() > count)
    all.resize(count);
  return all;
}

ContractionTiling dlc::chooseContractionTiling(const ContractionProblem &p,
                                               const Target &t) {
  const auto best = rankContractionTilings(p, t, 1);
  return best.empty() ? ContractionTiling{} : best.front();
}
