// SPDX-License-Identifier: Apache-2.0
// Which tile a contraction gets: a pure function of problem and target.
// Describes codegen/device/contraction.cuh and contraction_tma.cuh; prints as
// their Config.
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
  /// Both operands lie in memory so that tensor maps can describe them.
  bool mapped = false;
  /// Convolutions that are mapped: taps of the filter, so that k is taps *
  /// channels and no step has two taps.
  int64_t taps = 1;
  /// k is a number, not a typical value.
  bool fixedK = true;
  /// Bytes that the epilogue reads for every result (residuals).
  int64_t epilogueBytes = 0;

  /// Steps of k of contraction_tma.cuh.
  int64_t mapSteps() const { return taps * ((k / taps + 63) / 64); }
};

struct ContractionTiling {
  enum class Split : uint8_t { None, Cluster, Workspace };
  enum class Schedule : uint8_t { Cooperative, Pingpong, Latency };
  int bm = 64, bn = 64, bk = 32, warpsM = 2, warpsN = 2, stages = 3;
  int splitK = 1;
  Split split = Split::None;
  bool tensorCores = false, earlyLaunch = false;
  /// Warpgroups with wgmma: bm = 16 warpsM mTiles, warpsN = 1.
  bool wgmma = false;
  int mTiles = 1;
  /// contraction_tma.cuh, whose words these are: groups of warps * 4 (warpsM),
  /// by columns of Y, kSub steps of k in a stage.
  bool tma = false, swap = false;
  int groups = 1, by = 64, kSub = 1;
  Schedule schedule = Schedule::Cooperative;
  int64_t leastShared = 0; ///< what sharedBytes asks for at least
  double microseconds = 0; ///< the model's estimate

  /// Makes it one of contraction_tma.cuh, with the tile that follows.
  void setTma(bool swapped, int warpgroups, int tilesOfX, int columnsOfY,
              Schedule how);
  int threads() const;
  /// Blocks of a multiprocessor that the launch bounds ask for.
  int minBlocks() const;
  /// Takes a block one tile after the other, so that the grid is as large as
  /// the GPU?
  bool isPersistent() const { return tma && schedule != Schedule::Latency; }
  /// Dynamic shared memory: Config::smemBytes, or more where more blocks of a
  /// multiprocessor are not wanted.
  int64_t sharedBytes(const ContractionProblem &p) const;
  /// "ContractionConfig<128, 64, 32, 2, 2, 4, 1, Split::None, true, false>"
  std::string config() const;
  /// For kernel names: "128x64x32s4", "64x64x64s3c4" (cluster of 4), "w4"
  /// (workspace), "128x128x64s4g" (wgmma); of tensor maps "128x128x64s4t",
  /// "u3" (three steps in a stage), "ts" (swapped), then "p" (pingpong) or
  /// "l" (latency).
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
/// Those of contraction_tma.cuh that serve the problem.
std::vector<ContractionTiling> mapTilings(const ContractionProblem &problem,
                                          const Target &target);
/// Seconds that moving operands and results through memory takes.
double memorySeconds(const ContractionProblem &problem, const Target &target);
/// The best `count`, best first.
std::vector<ContractionTiling>
rankContractionTilings(const ContractionProblem &problem, const Target &target,
                       size_t count);

} // namespace dlc
