// SPDX-License-Identifier: Apache-2.0
// Attention D[b][m] = sum over n of w[n] * V[b][n], with w = softmax over n of
// scale * Q[b][m] * K[b][n] + bias[b][m][n]. Scores and weights stay in
// registers: a block takes some rows of Q, goes through the keys tile by tile
// and keeps for each row the maximum so far, the sum of exponentials and their
// products with V, all in float.
//
// An emitted kernel:
//
//   #include "dlc/attention.cuh"
//   using namespace dlc::dev;
//   using Index = int32_t;
//   struct P { void *buffer[5]; int64_t symbol[1]; };
//   struct Problem {
//     using In = half_t;                    // or bf16_t (sm_80)
//     static constexpr int kDepth = 64, kWidth = 64;  // columns of Q, K; of V
//     static DLC_DEVICE Index batch(const P &p) { return p.symbol[0] * 12; }
//     static DLC_DEVICE Index m(const P &p) { return 128; }  // rows of Q
//     static DLC_DEVICE Index n(const P &p) { return 128; }  // rows of K, V
//     static constexpr float kScale = 0.125f;                // positive
//     // Rows whose weights are NaN give zeros.
//     static constexpr bool kNanRowsZero = false;
//
//     // Each of Q, K and V as operands of contraction.cuh: elements of one
//     // copy along a row, its state, address or value.
//     static constexpr int kVectorQ = 8, kVectorK = 8, kVectorV = 8;
//     struct RowQ { DLC_DEVICE RowQ(const P &p, Index b, Index m); ... };
//     static DLC_DEVICE const In *address(const P &p, const RowQ &r, Index k);
//     struct RowK ...; struct RowV ...;
//
//     // What is added to the scores: kVectorBias (1 or 2) consecutive n; 0:
//     // nothing is.
//     static constexpr int kVectorBias = 2;
//     static DLC_DEVICE void bias(const P &p, Index b, Index m, Index n,
//                                 float (&out)[2]);
//
//     // Results: V consecutive columns of one row, as in contraction.cuh.
//     static constexpr int kVectorC = 8;
//     template <int V>
//     static DLC_DEVICE void apply(const P &p, Index b, Index m, Index n,
//                                  const float (&v)[V]);
//   };
//   // warps along m, warps along n, keys of a tile, stages
//   using Config = AttentionConfig<4, 1, 64, 2>;
//   DLC_KERNEL(dlc_attention_..., P, 128, 1, 40960) {
//     AttentionTile<Problem, Config>::run(p, blockIdx.x, smem);
//   }
//
// threads = 32 warpsM warpsN; smem = attention_smem_bytes<Problem, Config>();
// grid.x = batch * ceil(m / BM). Warps along n share the rows and split each
// tile's keys: their parts are added in order at the end, so results do not
// vary. One stage: all keys are one tile.
#pragma once
#include "dlc/contraction_load.cuh"
#include "dlc/kernel.cuh"
#include "dlc/ptx/exp2.cuh"

namespace dlc::dev {
template <int WarpsM_, int WarpsN_, int BN_, int Stages_>
struct AttentionConfig {
  static constexpr int WarpsM = WarpsM_, WarpsN = WarpsN_, BM = 16 * WarpsM_,
                       BN = BN_, WN = BN_ / WarpsN_, Stages = Stages_;
  static constexpr int kThreads = 32 * WarpsM * WarpsN;
  static_assert(BN % (16 * WarpsN) == 0 && Stages >= 1);
};

/// A row of Columns 16-bit elements in shared memory: panels of 32, 64 or 128
/// bytes, each a tile as warp_tile.cuh reads it.
template <int Columns> struct AttentionRow {
  static constexpr int kPanel = Columns <= 16 ? 16 : Columns <= 32 ? 32 : 64;
  static constexpr int kPanels = (Columns + kPanel - 1) / kPanel;
  static constexpr int kBytes = kPanel * 2; // of a panel
  static constexpr int kSteps = (Columns + 15) / 16;
  /// Chunk c (8 elements) of a row, in tiles of `rows` rows.
  static DLC_DEVICE uint32_t offset(int rows, int row, int c) {
    constexpr int kChunks = kPanel / 8;
    return uint32_t(c / kChunks * rows * kBytes) +
           chunk_offset<kBytes>(row, c % kChunks);
  }
  static constexpr int tileBytes(int rows) { return kPanels * rows * kBytes; }
};

template <class Problem, class Config> constexpr int attention_smem_bytes() {
  using RowsK = AttentionRow<Problem::kDepth>;
  using RowsV = AttentionRow<Problem::kWidth>;
  const int stages = RowsK::tileBytes(Config::BM) +
                     Config::Stages * (RowsK::tileBytes(Config::BN) +
                                       RowsV::tileBytes(Config::BN));
  const int store =
      4 * Config::WarpsN * Config::BM * (RowsV::kSteps * 16 + 4 + 2);
  return stages > store ? stages : store;
}

template <class Problem, class Config> struct AttentionTile {
  using In = typename Problem::In;
  static constexpr int BM = Config::BM, BN = Config::BN,
                       Stages = Config::Stages, WarpsN = Config::WarpsN;
  using RowsK = AttentionRow<Problem::kDepth>; // of Q as well
  using RowsV = AttentionRow<Problem::kWidth>;
  static constexpr int kBytesQ = RowsK::tileBytes(BM),
                       kBytesK = RowsK::tileBytes(BN),
                       kBytesV = RowsV::tileBytes(BN);
  static constexpr int NT = Config::WN / 8;           // score columns / 8
  static constexpr int DT = RowsV::kSteps * 2;        // result columns / 8
  static constexpr int kRow = RowsV::kSteps * 16 + 4; // of staged results
  static constexpr bool kBias = Problem::kVectorBias > 0;
  static constexpr float kLog2e = 1.44269504f;
  /// Of what the scores are kept as: without a bias unscaled.
  static constexpr float kFactor = kBias ? kLog2e : Problem::kScale * kLog2e;
  static_assert(kIs16<In>);

  /// Problem with k(p) as the loaders ask for it.
  struct Depth : Problem {
    template <class P> static DLC_DEVICE auto k(const P &p) {
      return decltype(Problem::m(p))(Problem::kDepth);
    }
  };
  struct Width : Problem {
    template <class P> static DLC_DEVICE auto k(const P &p) {
      return decltype(Problem::m(p))(Problem::kWidth);
    }
  };
  /// Rows row0 and up of an operand; those past the last are zero.
  template <class Rows, class Columns, class Row, int Count, int Vector,
            class P, class Index>
  static DLC_DEVICE void load(const P &p, Index b, Index row0, Index rows,
                              uint32_t tile) {
    RowLoader<Columns, Row, Count, Rows::kPanel, Vector, Config::kThreads>
        loader(p, b, row0, rows);
    DLC_UNROLL
    for (int panel = 0; panel < Rows::kPanels; panel++)
      loader.now(p, Index(panel * Rows::kPanel),
                 tile + uint32_t(panel * Count * Rows::kBytes));
  }

  /// Of one warp: rows l / 4 and l / 4 + 8 of its 16.
  struct State {
    float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0.f, 0.f};
    float o[1][DT][4];
  };

  template <class P>
  static DLC_DEVICE void run(const P &p, uint32_t tile, uint8_t *smem) {
    using Index = decltype(Problem::m(p));
    // Nothing here is constant, and sizes may be counted by a kernel.
    pdl_wait();
    pdl_launch();
    const Index M = Problem::m(p), N = Problem::n(p),
                tilesM = (M + BM - 1) / BM;
    const Index b = Index(tile) / (tilesM > 0 ? tilesM : 1),
                m0 = (Index(tile) - b * tilesM) * BM;
    if (b >= Problem::batch(p) || tilesM == 0)
      return;
    State state;
    DLC_UNROLL
    for (int j = 0; j < DT; j++)
      DLC_UNROLL
    for (int e = 0; e < 4; e++)
      state.o[0][j][e] = 0.f;
    keys(p, state, b, m0, M, N, shared_address(smem));
    store(p, state, b, m0, M, N, shared_address(smem));
  }

private:
  template <class P, class Index>
  static DLC_DEVICE void keys(const P &p, State &state, Index b, Index m0,
                              Index M, Index N, uint32_t smem) {
    const Index tiles = (N + BN - 1) / BN;
    auto slotK = [&](int s) {
      return smem + uint32_t(kBytesQ + s * (kBytesK + kBytesV));
    };
    auto slotV = [&](int s) { return slotK(s) + uint32_t(kBytesK); };
    auto load_k = [&](Index t, int s) {
      if (t < tiles)
        load<RowsK, Depth, typename Problem::RowK, BN, Problem::kVectorK>(
            p, b, t * BN, N, slotK(s));
      cp_commit();
    };
    auto load_v = [&](Index t, int s) {
      if (t < tiles)
        load<RowsV, Width, typename Problem::RowV, BN, Problem::kVectorV>(
            p, b, t * BN, N, slotV(s));
      cp_commit();
    };
    load<RowsK, Depth, typename Problem::RowQ, BM, Problem::kVectorQ>(p, b, m0,
                                                                      M, smem);
    // K of tile t + Stages is loaded when the scores of tile t are done, V of
    // tile t + Stages - 1 when tile t - 1 is.
    DLC_UNROLL
    for (int s = 0; s < Stages; s++) {
      load_k(s, s);
      if (s < Stages - 1 || Stages == 1)
        load_v(s, s);
    }
    constexpr int kBehind = Stages == 1 ? 1 : 2 * Stages - 2;
    int slot = 0, before = Stages - 1;
    for (Index t = 0; t < tiles; t++) {
      float scores[1][NT][4];
      const Index n0 = t * BN + warp_id() % WarpsN * Config::WN;
      float added[kBias ? NT : 1][4];
      read_bias(p, added, b, m0, M, n0, N);
      cp_wait<kBehind>();
      sync_block();
      if constexpr (Stages > 1)
        load_v(t + Stages - 1, before);
      products(scores, smem, slotK(slot));
      uint32_t weights[NT / 2][1][4];
      softmax(state, scores, weights, added, n0, N);
      cp_wait<Stages == 1 ? 0 : kBehind>();
      sync_block();
      if constexpr (Stages > 1)
        load_k(t + Stages, slot);
      accumulate(state, weights, slotV(slot));
      before = slot;
      slot = slot + 1 == Stages ? 0 : slot + 1;
    }
    cp_wait<0>();
    sync_block(); // the tiles become the staging of the results
  }

  /// Scores of the warp's rows and keys.
  static DLC_DEVICE void products(float (&scores)[1][NT][4], uint32_t q,
                                  uint32_t k) {
    const int l = lane_id(), r = l & 7, g = l >> 3,
              row = warp_id() / WarpsN * 16,
              key = warp_id() % WarpsN * Config::WN;
    DLC_UNROLL
    for (int j = 0; j < NT; j++)
      DLC_UNROLL
    for (int e = 0; e < 4; e++)
      scores[0][j][e] = 0.f;
    DLC_UNROLL
    for (int kk = 0; kk < RowsK::kSteps; kk++) {
      uint32_t fa[1][4], fb[NT][2];
      ldmatrix4(q + RowsK::offset(BM, row + (g & 1) * 8 + r, 2 * kk + (g >> 1)),
                fa[0]);
      DLC_UNROLL
      for (int j = 0; j < NT; j += 2) {
        uint32_t f[4];
        ldmatrix4(k + RowsK::offset(BN, key + 8 * j + (g >> 1) * 8 + r,
                                    2 * kk + (g & 1)),
                  f);
        fb[j][0] = f[0];
        fb[j][1] = f[1];
        fb[j + 1][0] = f[2];
        fb[j + 1][1] = f[3];
      }
      mma_tile<In>(scores, fa, fb);
    }
  }

  template <class P, class Index, int L>
  static DLC_DEVICE void read_bias(const P &p, float (&added)[L][4], Index b,
                                   Index m0, Index M, Index n0, Index N) {
    if constexpr (kBias) {
      constexpr int V = Problem::kVectorBias;
      const int l = lane_id();
      DLC_UNROLL
      for (int h = 0; h < 2; h++) {
        const Index m = m0 + warp_id() / WarpsN * 16 + l / 4 + 8 * h;
        DLC_UNROLL
        for (int j = 0; j < NT; j++)
          DLC_UNROLL
        for (int e = 0; e < 2; e += V) {
          const Index n = n0 + 8 * j + l % 4 * 2 + e;
          float x[V] = {};
          if (m < M && n < N)
            Problem::bias(p, b, m, n, x);
          DLC_UNROLL
          for (int i = 0; i < V; i++)
            added[j][2 * h + e + i] = x[i];
        }
      }
    }
  }

  /// Weights of this tile relative to the largest score so far, as operands of
  /// the next product; scales what has been summed before.
  template <class Index, int L>
  static DLC_DEVICE void softmax(State &state, float (&scores)[1][NT][4],
                                 uint32_t (&weights)[NT / 2][1][4],
                                 const float (&added)[L][4], Index n0,
                                 Index N) {
    const Index left = N - n0;
    if constexpr (kBias) {
      DLC_UNROLL
      for (int j = 0; j < NT; j++)
        DLC_UNROLL
      for (int e = 0; e < 4; e++)
        scores[0][j][e] = fmaf(scores[0][j][e], Problem::kScale, added[j][e]);
    }
    if (left < Config::WN) {
      const int column = lane_id() % 4 * 2;
      DLC_UNROLL
      for (int j = 0; j < NT; j++)
        DLC_UNROLL
      for (int e = 0; e < 4; e++)
        if (Index(8 * j + column + e % 2) >= left)
          scores[0][j][e] = -INFINITY;
    }
    DLC_UNROLL
    for (int h = 0; h < 2; h++) {
      float largest = state.largest[h];
      DLC_UNROLL
      for (int j = 0; j < NT; j++)
        largest =
            fmaxf(largest, fmaxf(scores[0][j][2 * h], scores[0][j][2 * h + 1]));
      largest = fmaxf(largest, shfl_xor(largest, 1));
      largest = fmaxf(largest, shfl_xor(largest, 2));
      const float base = finite(largest),
                  before = fast_exp2((state.largest[h] - base) * kFactor);
      state.largest[h] = largest;
      float sum = 0.f;
      DLC_UNROLL
      for (int j = 0; j < NT; j++)
        DLC_UNROLL
      for (int e = 2 * h; e < 2 * h + 2; e++) {
        scores[0][j][e] = fast_exp2((scores[0][j][e] - base) * kFactor);
        sum += scores[0][j][e];
      }
      state.sum[h] = fmaf(state.sum[h], before, sum);
      DLC_UNROLL
      for (int j = 0; j < DT; j++)
        DLC_UNROLL
      for (int e = 2 * h; e < 2 * h + 2; e++)
        state.o[0][j][e] *= before;
    }
    // An accumulator's fragment is an operand's.
    DLC_UNROLL
    for (int i = 0; i < NT / 2; i++)
      DLC_UNROLL
    for (int e = 0; e < 4; e++)
      weights[i][0][e] = pack2<In>(scores[0][2 * i + e / 2][e % 2 * 2],
                                   scores[0][2 * i + e / 2][e % 2 * 2 + 1]);
  }
  /// Where every score so far is -inf, weights are zero.
  static DLC_DEVICE float finite(float largest) {
    return largest == -INFINITY ? 0.f : largest;
  }

  static DLC_DEVICE void accumulate(State &state,
                                    const uint32_t (&weights)[NT / 2][1][4],
                                    uint32_t v) {
    const int l = lane_id(), r = l & 7, g = l >> 3,
              key = warp_id() % WarpsN * Config::WN;
    DLC_UNROLL
    for (int i = 0; i < NT / 2; i++) {
      uint32_t fb[DT][2];
      DLC_UNROLL
      for (int j = 0; j < DT; j += 2) {
        uint32_t f[4];
        ldmatrix4t(
            v + RowsV::offset(BN, key + 16 * i + (g & 1) * 8 + r, j + (g >> 1)),
            f);
        fb[j][0] = f[0];
        fb[j][1] = f[1];
        fb[j + 1][0] = f[2];
        fb[j + 1][1] = f[3];
      }
      mma_tile<In>(state.o, weights[i], fb);
    }
  }

  /// The parts of warps along n, then rows in vectors.
  template <class P, class Index>
  static DLC_DEVICE void store(const P &p, State &state, Index b, Index m0,
                               Index M, Index N, uint32_t smem) {
    const int l = lane_id(), row = warp_id() / WarpsN * 16 + l / 4,
              part = warp_id() % WarpsN;
    // [WarpsN][BM]: pairs of largest and sum, then rows.
    auto pair = [&](int w, int r) { return smem + uint32_t(w * BM + r) * 8u; };
    auto at = [&](int w, int r, int c) {
      return smem + uint32_t(WarpsN * BM * 8) +
             uint32_t((w * BM + r) * kRow + c) * 4u;
    };
    DLC_UNROLL
    for (int h = 0; h < 2; h++) {
      state.sum[h] += shfl_xor(state.sum[h], 1);
      state.sum[h] += shfl_xor(state.sum[h], 2);
      if constexpr (WarpsN > 1)
        if (l % 4 == 0)
          sts(pair(part, row + 8 * h),
              Vec<float, 2>{state.largest[h], state.sum[h]});
    }
    if constexpr (WarpsN > 1)
      sync_block();
    DLC_UNROLL
    for (int h = 0; h < 2; h++) {
      float sum = state.sum[h], own = 1.f;
      if constexpr (WarpsN > 1) {
        Vec<float, 2> parts[WarpsN];
        float largest = -INFINITY;
        DLC_UNROLL
        for (int w = 0; w < WarpsN; w++) {
          parts[w] = lds<Vec<float, 2>>(pair(w, row + 8 * h));
          largest = fmaxf(largest, parts[w][0]);
        }
        largest = finite(largest);
        sum = 0.f;
        DLC_UNROLL
        for (int w = 0; w < WarpsN; w++) {
          const float share = fast_exp2((parts[w][0] - largest) * kFactor);
          sum = fmaf(parts[w][1], share, sum);
          own = w == part ? share : own;
        }
      }
      own = N > 0 ? own / sum : 0.f;
      const bool zero = Problem::kNanRowsZero && !(sum > 0.f);
      DLC_UNROLL
      for (int j = 0; j < DT; j++)
        sts(at(part, row + 8 * h, 8 * j + l % 4 * 2),
            Vec<float, 2>{zero ? 0.f : state.o[0][j][2 * h] * own,
                          zero ? 0.f : state.o[0][j][2 * h + 1] * own});
    }
    sync_block();
    constexpr int V = Problem::kVectorC,
                  kVectors = (Problem::kWidth + V - 1) / V;
    for (int i = thread_id(); i < BM * kVectors; i += Config::kThreads) {
      const int r = i / kVectors, c = i % kVectors * V;
      const Index m = m0 + r;
      if (m >= M)
        break;
      float v[V];
      DLC_UNROLL
      for (int e = 0; e < V; e++) {
        v[e] = lds<float>(at(0, r, c + e));
        DLC_UNROLL
        for (int w = 1; w < WarpsN; w++)
          v[e] += lds<float>(at(w, r, c + e));
      }
      Problem::template apply<V>(p, b, m, Index(c), v);
    }
  }
};
} // namespace dlc::dev
