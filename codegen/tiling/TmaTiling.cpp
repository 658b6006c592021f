// SPDX-License-Identifier: Apache-2.0
// Tiles of contraction_tma.cuh by price, with constants measured on an H200.
#include "codegen/tiling/ContractionTiling.h"

#include <algorithm>
#include <cmath>

using namespace dlc;
using Schedule = ContractionTiling::Schedule;

namespace {
/// Clocks of one step of k in the tensor cores, which read both operands from
/// shared memory.
double productClocks(const ContractionTiling &c) {
  const int blocksOfX = (c.swap ? c.bn : c.bm) / 64;
  return blocksOfX * 4.0 * std::max(c.by / 2.0, 16 + c.by / 4.0);
}
/// The same with the operands' way from L2, where neighbours share them, and a
/// producer thread's round.
double stepClocks(const ContractionTiling &c) {
  return std::max({productClocks(c), (c.bm + c.bn) * 128.0 / 65, 270.0});
}

/// Sums of a thread, of its tile.
int sums(const ContractionTiling &c) { return c.mTiles * c.by / 2; }

/// Clocks of an epilogue of one warpgroup, which exchanges within quads or,
/// swapped, through shared memory.
double storeClocks(const ContractionProblem &p, const ContractionTiling &c) {
  double store = c.swap ? 400 + 11 * sums(c) : 310 + 11.6 * sums(c);
  if (!c.swap && sums(c) > 64) // few registers are left for it
    store += 46.0 * (sums(c) - 64);
  return store + (p.epilogueBytes ? 550 + (c.swap ? 24 : 17) * sums(c) : 0);
}

/// Blocks that take one tile after another.
double persistent(const ContractionProblem &p, const Target &t,
                  const ContractionTiling &c) {
  const double products = double(p.mapSteps()) * stepClocks(c) + 150;
  const double store = storeClocks(p, c);
  const bool pingpong = c.schedule == Schedule::Pingpong;
  const double tile =
      pingpong ? std::max(products, (products + store) / 2) : products + store;
  const int64_t tiles = p.batch * c.tiles(p.m, p.n);
  const auto waves =
      double((tiles + t.multiprocessors - 1) / t.multiprocessors);
  const double clocks = waves * tile + 2000 + (pingpong ? store : 0);
  // Power: sustained products run at less than the clock of short bursts. What
  // memory takes is hidden, but for a part.
  const double seconds = clocks / 1.6e9 + 0.8e-6,
               memory = 0.91 * memorySeconds(p, t);
  // Where registers run short.
  double more = sums(c) > (c.swap ? 104 : 64) ? 1.1 : 1;
  // Where k is short the epilogue is most of a tile, and what it reads decides:
  // measured on the residual layers of ResNet-50 with 64 and 128 channels.
  if (p.epilogueBytes && p.mapSteps() <= 2)
    more *= !c.swap ? 1.07 : sums(c) > 64 ? 1.08 : 0.93;
  return (std::max(seconds, memory) + 0.3 * std::min(seconds, memory)) * more;
}

/// Blocks of one tile, a few on a multiprocessor; microseconds that were
/// fitted to the layers of ResNet-50 and BERT at batch 1, each within its
/// network.
double latency(const ContractionProblem &p, const Target &t,
               const ContractionTiling &c) {
  const int64_t blocks = p.batch * c.tiles(p.m, p.n) * c.splitK;
  const int64_t fit =
      std::min<int64_t>(t.sharedPerSm / (c.sharedBytes(p) + 1024), 4);
  if (blocks > fit * t.multiprocessors)
    return INFINITY;
  const double load = double(blocks) / t.multiprocessors;
  const double steps = std::ceil(double(p.mapSteps()) / c.splitK);
  const double resident = std::max(1.0, std::min(double(fit), load));
  const double l2 = (c.bm + c.bn) * 128.0 / 46 / 1700 * resident;
  double step = std::max(0.12 + 0.34 * l2, resident * productClocks(c) / 1450);
  // Where slots are used again a load's way bounds their pace; with several
  // steps in a slot half a slot is always on its way.
  const double slots = c.stages - (c.kSub > 1 ? 0.5 : 0);
  if (steps > c.stages * c.kSub)
    step = std::max(step, 0.95 / (slots * c.kSub));
  const double slice = std::ceil(c.by / 8.0 / c.splitK);
  double us = 0.95 + steps * step + 0.5 * load + 0.75 * (c.groups - 1) +
              0.78 * c.by / 64;
  if (p.epilogueBytes)
    us += 0.02 * slice;
  if (c.splitK > 1)
    us += 0.09 + 0.067 * c.splitK + 0.015 * slice * c.splitK;
  const double seconds = us * 1e-6, memory = memorySeconds(p, t);
  return std::max(seconds, memory) + 0.05 * std::min(seconds, memory);
}
} // namespace

std::vector<ContractionTiling> dlc::mapTilings(const ContractionProblem &p,
                                               const Target &t) {
  std::vector<ContractionTiling> all;
  const int64_t steps = p.mapSteps();
  ContractionTiling c;
  auto add = [&](int kSub, int splitK) {
    if ((kSub > 1 || splitK > 1) && !p.fixedK)
      return;
    if (steps % kSub || steps / kSub < 2 * splitK * (splitK > 1))
      return;
    c.kSub = kSub;
    c.splitK = splitK;
    c.split = splitK > 1 ? ContractionTiling::Split::Cluster
                         : ContractionTiling::Split::None;
    const bool latent = c.schedule == Schedule::Latency;
    const int64_t blocks = p.batch * c.tiles(p.m, p.n) * splitK;
    // A third block of a multiprocessor would be one of a kernel behind the
    // next: it only waits, and crowds out one of the next (ResNet-50 at batch
    // 1: 2 %).
    c.leastShared = latent && blocks <= int64_t(2 * t.multiprocessors)
                        ? t.sharedPerSm / 3 - 1024 + 128
                        : 0;
    const int64_t room = latent && c.by <= 64 ? 110 << 10 : t.sharedPerBlock;
    const auto units = int((steps / kSub + splitK - 1) / splitK);
    const int most = latent ? std::max(2, std::min(units, 6 / kSub)) : 6;
    for (c.stages = most; c.stages >= 2; c.stages--)
      if (c.sharedBytes(p) <= room)
        break;
    if (c.stages < 2)
      return;
    // With more sums, what is read ahead would not stay in registers.
    if (p.epilogueBytes && sums(c) > (c.swap ? 88 : 64))
      return;
    const double s = latent ? latency(p, t, c) : persistent(p, t, c);
    if (s == INFINITY)
      return;
    c.microseconds = s * 1e6;
    // Measured at batch 1: with more blocks, those of the kernels behind it
    // take more from it than they gain (BERT 4 %, GoogLeNet 3 %).
    c.earlyLaunch = latent && blocks <= int64_t(t.multiprocessors / 3);
    all.push_back(c);
  };
  auto tile = [&](bool swap, int groups, int mTiles, int by, Schedule how) {
    c = ContractionTiling();
    c.setTma(swap, groups, mTiles, by, how);
    add(1, 1);
  };
  for (Schedule how : {Schedule::Cooperative, Schedule::Pingpong}) {
    for (int by : {64, 96, 128, 192, 256})
      tile(false, 2, 1, by, how);
    for (int by : {64, 96, 128})
      tile(false, 2, 2, by, how);
    for (int by = 64; by <= 256; by += 16)
      tile(true, 2, 1, by, how);
  }
  for (int groups : {1, 2})
    for (int by = 8; by <= 192; by += by < 64 ? 8 : by < 128 ? 16 : 64)
      for (int kSub = 1; kSub <= 3; kSub++)
        for (int splitK = 1; splitK <= 8; splitK *= 2) {
          if (groups == 2 && by < 32)
            continue;
          c = ContractionTiling();
          c.setTma(true, groups, 1, by, Schedule::Latency);
          add(kSub, splitK);
        }
  return all;
}
