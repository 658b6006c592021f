// SPDX-License-Identifier: Apache-2.0
// Which tile a contraction gets: a pure function of problem and target.
// Describes codegen/device/contraction.cuh; prints as its Config.
#pragma once
#include "ir/Target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc {

/// D[batch][m][n] = A[batch][m][k] B[batch][n][k]. Symbolic sizes: a typical
/// value (the range's geometric mean does well).
struct ContractionProblem {
  enum class Math : uint8_t {
    F16,    ///< half_t operands, float sums
    BF16,   ///< bf16_t operands, float sums
    TF32,   ///< float operands, may be rounded to tf32
    F32,    ///< float operands, exact
    F64,    ///< double
    S8,     ///< int8_t operands, int32 sums
    Integer ///< any other integers
  };
  Math math = Math::F32;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int elementBytes = 4, accumulatorBytes = 4, resultBytes = 4;
  /// Elements of one copy of A and B, of one store of results
  /// (contraction.cuh).
  int vectorA = 1, vectorB = 1, vectorC = 1;
  bool transposedB = false; ///< B is [k][n]
  /// Bytes of A in memory, where less than batch * m * k elements (a
  /// convolution reads its input several times); 0: just those.
  int64_t bytesA = 0;
  /// False: no workspace may be asked for (split k then only in clusters).
  bool workspaceAllowed = true;
};

struct ContractionTiling {
  enum class Split : uint8_t { None, Cluster, Workspace };
  int bm = 64, bn = 64, bk = 32, warpsM = 2, warpsN = 2, stages = 3;
  int splitK = 1;
  Split split = Split::None;
  bool tensorCores = false, earlyLaunch = false;
  /// Warpgroups with wgmma: bm = 16 warpsM mTiles, warpsN = 1.
  bool wgmma = false;
  int mTiles = 1;
  double microseconds = 0; ///< the model's estimate

  int threads() const { return 32 * warpsM * warpsN; }
  /// Dynamic shared memory, as Config::smemBytes.
  int64_t sharedBytes(const ContractionProblem &p) const;
  /// "ContractionConfig<128, 64, 32, 2, 2, 4, 1, Split::None, true, false>"
  std::string config() const;
  /// For kernel names: "128x64x32s4", "64x64x64s3c4" (cluster of 4), "w4"
  /// (workspace), "128x128x64s4g" (wgmma).
  std::string name() const;
  /// Tiles of one batch item along m and n; the grid is
  /// batch * ceil(m / bm) * ceil(n / bn) * splitK.
  int64_t tiles(int64_t m, int64_t n) const {
    return ((m + bm - 1) / bm) * ((n + bn - 1) / bn);
  }
};

/// True when `target` has tensor cores for `math` that this template uses.
bool hasTensorCores(ContractionProblem::Math math, const Target &target);

/// The best by the cost model.
ContractionTiling chooseContractionTiling(const ContractionProblem &problem,
                                          const Target &target);
/// The best `count`, best first, for tuning.
std::vector<ContractionTiling>
rankContractionTilings(const ContractionProblem &problem, const Target &target,
                       size_t count);

} // namespace dlc
