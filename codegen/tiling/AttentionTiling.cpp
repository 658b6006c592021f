// SPDX-License-Identifier: Apache-2.0
// Which tile an attention gets.
#include "codegen/tiling/AttentionTiling.h"

#include "ir/Check.h"

#include <algorithm>

using namespace dlc;

namespace {
/// Bytes of `rows` rows in shared memory (AttentionRow).
int64_t tileBytes(int64_t columns, int64_t rows) {
  int64_t panel = columns <= 16 ? 16 : columns <= 32 ? 32 : 64;
  return (columns + panel - 1) / panel * panel * 2 * rows;
}
int64_t up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

// Clocks of a multiprocessor, fitted to an H200 (64 columns, chains of 21);
// others are close enough to choose by.
constexpr double kClocksPerMicrosecond = 1700;
constexpr double kLaunchMicroseconds = 0.95;
/// Of one tile from beginning to end: waits, and what grows with its keys and
/// with those of one warp.
constexpr double kTileLatency = 1000, kKeyLatency = 10, kWarpKeyLatency = 8;
/// Of 64 x 64 scores and their products where blocks hide each other's
/// latency, and of a block beside its tiles.
constexpr double kTileClocks = 1171, kBlockClocks = 700;
/// Where warps along n share rows: of their parts.
constexpr double kExchangeLatency = 350, kExchangeClocks = 400;
/// Of one more copy of each thread, where they are narrow.
constexpr double kCopyClocks = 64;

double estimate(const AttentionProblem &p, const AttentionTiling &t,
                const Target &target) {
  auto ceil = [](int64_t x, int64_t y) { return double((x + y - 1) / y); };
  const int64_t sms = std::max(target.multiprocessors, 1);
  const int64_t blocks = p.batch * ((p.m + t.rows() - 1) / t.rows());
  const int64_t resident = std::max<int64_t>(
      1, std::min({target.sharedPerSm / (t.sharedBytes(p) + 1024),
                   int64_t(target.registersPerSm) / (t.threads() * 144),
                   int64_t(1536) / t.threads()}));
  const double tiles = ceil(std::max<int64_t>(p.n, 1), t.bn);
  auto narrow = [](int64_t columns, int vector) {
    return double(columns) / vector - double(columns) / 8;
  };
  const double copies =
      kCopyClocks *
      (t.bn * narrow(p.depth, p.vectorK) + t.bn * narrow(p.width, p.vectorV) +
       t.rows() * narrow(p.depth, p.vectorQ) / tiles) /
      t.threads();
  const bool shared = t.warpsN > 1;
  const double columns = 0.5 + double(up(p.depth, 16) + up(p.width, 16)) / 256;
  // The fewer rows of a warp's block, the more often keys are read.
  const double sharing = t.warpsN == 1 ? 1 : t.warpsN == 2 ? 1.1 : 1.67;
  const double tile =
      kTileClocks * sharing * columns * t.rows() * t.bn / 4096 + copies;
  const double throughput =
      ceil(blocks, sms) *
      (kBlockClocks + (shared ? kExchangeClocks : 0) + tiles * tile);
  const double latency =
      ceil(blocks, sms * resident) *
      (tiles * (kTileLatency + kKeyLatency * t.bn * columns +
                kWarpKeyLatency * t.bn / t.warpsN * columns + copies) +
       (shared ? kExchangeLatency : 0));
  return kLaunchMicroseconds +
         std::max(throughput, latency) / kClocksPerMicrosecond;
}
} // namespace

int64_t AttentionTiling::sharedBytes(const AttentionProblem &p) const {
  const int64_t tiles =
      tileBytes(p.depth, rows()) +
      stages * (tileBytes(p.depth, bn) + tileBytes(p.width, bn));
  const int64_t store =
      int64_t(4) * warpsN * rows() * (up(p.width, 16) + 4 + 2);
  return std::max(tiles, store);
}

std::string AttentionTiling::config() const {
  return "AttentionConfig<" + std::to_string(warpsM) + ", " +
         std::to_string(warpsN) + ", " + std::to_string(bn) + ", " +
         std::to_string(stages) + ">";
}

std::string AttentionTiling::name() const {
  return std::to_string(rows()) + "x" + std::to_string(bn) + "w" +
         std::to_string(warpsM) + "x" + std::to_string(warpsN) + "s" +
         std::to_string(stages);
}

AttentionTiling dlc::chooseAttentionTiling(const AttentionProblem &problem,
                                           const Target &target) {
  AttentionTiling best;
  // Four warps; of more, the barriers cost what they gain. Those along n split
  // the keys of few rows: 64 keys for a warp at most, for the registers that
  // they take.
  bool found = false;
  for (int warpsN : {1, 2, 4})
    for (int bn : {64, 32, 128, 256}) {
      if (bn / warpsN > 64 || bn / warpsN < 16)
        continue;
      AttentionTiling t{4 / warpsN, warpsN, bn, 2, 0};
      if (problem.largestN && problem.largestN <= bn)
        t.stages = 1;
      if (t.sharedBytes(problem) > target.sharedPerBlock && !target.isHost())
        continue;
      t.microseconds = estimate(problem, t, target);
      if (!found || t.microseconds < best.microseconds)
        best = t;
      found = true;
      // The emulator runs one warp after the other: fewest exchanges.
      if (target.isHost())
        return best;
    }
  DLC_CHECK(found) << "32 rows of 128 columns fit into any shared memory";
  return best;
}
