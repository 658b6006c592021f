// SPDX-License-Identifier: Apache-2.0
// Who reduces a row, and how many share one: a pure function of problem and
// target. Describes codegen/device/reduction.cuh.
#pragma once
#include "ir/Target.h"

#include <cstdint>
#include <string>

namespace dlc {

/// Rows, and elements of each. Symbolic sizes: a typical value.
struct ReductionProblem {
  int64_t rows = 1, size = 1;
  int64_t largestSize = INT64_MAX; ///< that there may be
  bool fixedRows = true;           ///< their number is known
  bool columns = false; ///< neighbours in memory belong to different rows
  /// One pass, and nothing is stored per element.
  bool reducesOnly = false;
  int64_t vector = 1; ///< elements that are read at a time
};

struct ReductionSchedule {
  /// Who reduces a row; Split and SplitColumn: several blocks, and a second
  /// kernel after them.
  enum class By : uint8_t { Thread, Warp, Block, Column, Split, SplitColumn };
  By by = By::Thread;
  unsigned threads = 256; ///< of a block
  int parts = 1;          ///< Split: of a row; SplitColumn: of 32 rows
  int64_t vector = 1;

  bool splits() const { return by == By::Split || by == By::SplitColumn; }
  /// "warp128v4"
  std::string name() const;
};

ReductionSchedule chooseReductionSchedule(const ReductionProblem &problem,
                                          const Target &target);

} // namespace dlc
