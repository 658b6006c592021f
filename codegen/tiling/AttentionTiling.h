// SPDX-License-Identifier: Apache-2.0
// Which tile an attention gets: a pure function of problem and target.
// Describes codegen/device/attention.cuh; prints as its Config.
#pragma once
#include "ir/Target.h"

#include <cstdint>
#include <string>

namespace dlc {

/// 16-bit operands. Symbolic sizes: a typical value.
struct AttentionProblem {
  int64_t batch = 1, m = 1, n = 1, depth = 64, width = 64;
  /// The largest n there may be; 0 where that is open.
  int64_t largestN = 0;
  /// Elements of one copy of Q, K and V.
  int vectorQ = 8, vectorK = 8, vectorV = 8;
};

struct AttentionTiling {
  int warpsM = 4, warpsN = 1, bn = 64, stages = 2;
  double microseconds = 0; ///< the model's estimate

  int rows() const { return 16 * warpsM; }
  int threads() const { return 32 * warpsM * warpsN; }
  /// Dynamic shared memory, as attention_smem_bytes.
  int64_t sharedBytes(const AttentionProblem &p) const;
  /// "AttentionConfig<4, 1, 64, 2>"
  std::string config() const;
  /// "64x64w4x1s2": rows, keys, warps along both, stages.
  std::string name() const;
};

AttentionTiling chooseAttentionTiling(const AttentionProblem &problem,
                                      const Target &target);

} // namespace dlc
