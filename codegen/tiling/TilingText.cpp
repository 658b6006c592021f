// SPDX-License-Identifier: Apache-2.0
// What follows from a tiling: threads, shared memory, its text in kernels.
#include "codegen/tiling/ContractionTiling.h"

#include <algorithm>

using namespace dlc;

void ContractionTiling::setTma(bool swapped, int warpgroups, int tilesOfX,
                               int columnsOfY, Schedule how) {
  tma = tensorCores = true;
  wgmma = false;
  swap = swapped;
  groups = warpgroups;
  mTiles = tilesOfX;
  by = columnsOfY;
  schedule = how;
  bk = 64;
  const int bx = 64 * mTiles * (how == Schedule::Pingpong ? 1 : groups);
  bm = swap ? by : bx;
  bn = swap ? bx : by;
}

int ContractionTiling::threads() const {
  if (tma)
    return schedule == Schedule::Latency ? 128 * groups + 64
                                         : 128 * (groups + 1);
  return 32 * warpsM * warpsN;
}

int ContractionTiling::minBlocks() const {
  if (!tma || schedule != Schedule::Latency)
    return 1;
  return by * groups <= 64 ? 3 : by * groups <= 128 ? 2 : 1;
}

/// As TmaConfig::smemBytes.
static int64_t mapBytes(const ContractionTiling &t) {
  const bool latency = t.schedule == ContractionTiling::Schedule::Latency;
  const int slice = (t.by / 8 + t.splitK - 1) / t.splitK;
  const int panelM = latency ? slice * 8 : std::min(t.by, 64);
  const int64_t staging =
      t.swap ? int64_t(t.groups) * panelM * (64 + 4) * 4 : 0;
  const int64_t ring = int64_t(t.stages) * t.kSub * (t.bm + t.bn) * 128;
  const int64_t received =
      t.splitK > 1 ? int64_t(t.splitK) * t.groups * slice * 2048 : 0;
  return (latency ? std::max(ring, staging) : ring + staging) + received +
         8 * (2 * t.stages + 1);
}

int64_t ContractionTiling::sharedBytes(const ContractionProblem &p) const {
  if (tma)
    return std::max(mapBytes(*this), leastShared);
  const int64_t pipeline = int64_t(stages) * (bm + bn) * bk * p.elementBytes;
  const int64_t results = split == Split::Cluster
                              ? int64_t(bm) * (bn + 8) * p.accumulatorBytes
                              : int64_t(warpsM) * warpsN * 16 *
                                    (bn / warpsN + 8) * p.accumulatorBytes;
  return std::max(pipeline, results) + 16;
}

std::string ContractionTiling::config() const {
  const char *splits[] = {"None", "Cluster", "Workspace"};
  const char *schedules[] = {"Cooperative", "Pingpong", "Latency"};
  auto number = [](int x) { return std::to_string(x) + ", "; };
  if (tma)
    return std::string("TmaConfig<") + (swap ? "true, " : "false, ") +
           number(groups) + number(mTiles) + number(by) + number(stages) +
           number(kSub) + number(splitK) +
           "Schedule::" + schedules[int(schedule)] +
           (earlyLaunch ? ", true>" : ", false>");
  if (wgmma)
    return "WgmmaConfig<" + number(warpsM / 4) + number(mTiles) + number(bn) +
           number(stages) + number(splitK) + "Split::" + splits[int(split)] +
           (earlyLaunch ? ", true>" : ", false>");
  return "ContractionConfig<" + number(bm) + number(bn) + number(bk) +
         number(warpsM) + number(warpsN) + number(stages) + number(splitK) +
         "Split::" + splits[int(split)] + (tensorCores ? ", true" : ", false") +
         (earlyLaunch ? ", true>" : ", false>");
}

std::string ContractionTiling::name() const {
  std::string s = std::to_string(bm) + "x" + std::to_string(bn) + "x" +
                  std::to_string(bk) + "s" + std::to_string(stages);
  if (kSub > 1)
    s += "u" + std::to_string(kSub);
  if (splitK > 1)
    s += (split == Split::Cluster ? "c" : "w") + std::to_string(splitK);
  if (tma)
    s +=
        std::string(swap ? "ts" : "t") + (schedule == Schedule::Pingpong  ? "p"
                                          : schedule == Schedule::Latency ? "l"
                                                                          : "");
  return wgmma ? s + "g" : s;
}
