// SPDX-License-Identifier: Apache-2.0
// Who reduces a row, and how many share one.
#include "codegen/tiling/ReductionSchedule.h"

#include <algorithm>
#include <optional>

using namespace dlc;
using By = ReductionSchedule::By;

std::string ReductionSchedule::name() const {
  static const char *const names[] = {"thread", "warp",  "block",
                                      "column", "split", "split_column"};
  return names[int(by)] + std::to_string(threads) + "v" +
         std::to_string(vector);
}

/// Blocks for each of `groups`, so that each has `least` elements and all
/// together one wave.
static int partsOf(int64_t groups, int64_t size, int64_t least,
                   const Target &target) {
  return int(
      std::min<int64_t>({target.multiprocessors / groups, size / least, 256}));
}

/// Few long rows: their blocks would be too few.
static std::optional<ReductionSchedule> chooseSplit(const ReductionProblem &p,
                                                    const Target &target) {
  if (!p.reducesOnly)
    return std::nullopt;
  auto areFew = [&](int64_t blocks) {
    return blocks * 4 <= target.multiprocessors;
  };
  if (p.size >= 16384 && areFew(p.rows) && p.fixedRows)
    return ReductionSchedule{By::Split, 256,
                             partsOf(p.rows, p.size, 4096, target)};
  const int64_t blocks = (p.rows + 31) / 32;
  if (p.columns && p.size >= 4096 && areFew(blocks))
    return ReductionSchedule{By::SplitColumn, 512,
                             partsOf(blocks, p.size, 512, target)};
  return std::nullopt;
}

// A long row takes one thread far longer than idle threads cost at short ones:
// so a thread gets rows that are short for sure, not those that typically are.

static ReductionSchedule chooseColumns(const ReductionProblem &p) {
  if (p.largestSize < 32)
    return {By::Thread, 128};
  return {By::Column, p.size >= 512 ? 1024u : 256u};
}

static ReductionSchedule chooseRows(const ReductionProblem &p) {
  if (p.largestSize <= 8)
    return {By::Thread, 128};
  if (p.size <= 1024)
    return {By::Warp, 128};
  return {By::Block, p.size >= 16384 ? 1024u : p.size >= 4096 ? 512u : 256u};
}

static ReductionSchedule choose(const ReductionProblem &p,
                                const Target &target) {
  // On the host a thread that need not wait costs nothing.
  if (target.isHost())
    return {By::Thread, 32};
  if (std::optional<ReductionSchedule> split = chooseSplit(p, target))
    return *split;
  return p.columns ? chooseColumns(p) : chooseRows(p);
}

ReductionSchedule dlc::chooseReductionSchedule(const ReductionProblem &p,
                                               const Target &target) {
  ReductionSchedule schedule = choose(p, target);
  schedule.vector = p.vector;
  return schedule;
}
