// SPDX-License-Identifier: Apache-2.0
// Accumulators of a contraction to the epilogue: through shared memory, so
// that a lane holds V consecutive n, and with split k summed over the parts.
#pragma once
#include "dlc/ptx/barrier.cuh"
#include "dlc/ptx/cluster.cuh"
#include "dlc/ptx/shuffle.cuh"

namespace dlc::dev {
/// Where partial sums of a split k meet: in the shared memory of a cluster of
/// SplitK blocks (sm_90 and up), or in a workspace.
enum class Split { None, Cluster, Workspace };

template <class Problem, class Config> struct ContractionStore {
  using Acc = typename Problem::Acc;
  static constexpr int BM = Config::BM, BN = Config::BN, WN = Config::WN,
                       S = Config::SplitK;
  static constexpr int MT = Config::MT, NT = WN / 8;
  // 8 more: the eight rows of a fragment fall into different banks.
  static constexpr int kPitch = WN + 8, kTilePitch = BN + 8;
  static constexpr int kVector = Problem::kVectorC;
  static_assert(!Problem::kStoreAlongM || kVector == 1);

  template <class P, class Index>
  static DLC_DEVICE void run(const P &p, const Acc (&acc)[MT][NT][4], Index b,
                             Index m0, Index n0, uint32_t tile, int part,
                             uint8_t *smem) {
    if constexpr (Config::kSplit == Split::Cluster)
      cluster(p, acc, b, m0, n0, part, smem);
    else {
      if constexpr (Config::kSplit == Split::Workspace)
        if (!publish(p, acc, tile, part, smem))
          return;
      const int warp = warp_id();
      const uint32_t stage =
          shared_address(smem) + uint32_t(warp * 16 * kPitch * sizeof(Acc));
      DLC_UNROLL
      for (int i = 0; i < MT; i++) {
        Acc sum[NT][4];
        DLC_UNROLL
        for (int j = 0; j < NT; j++)
          DLC_UNROLL
        for (int e = 0; e < 4; e++)
          sum[j][e] = acc[i][j][e];
        if constexpr (Config::kSplit == Split::Workspace)
          gather(p, sum, tile, i);
        stageRows<kPitch>(sum, stage, 0, 0);
        sync_warp();
        storeRows<16, WN, kPitch, 32>(
            p, b, m0 + Config::row(warp, i), n0 + Config::column(warp),
            lane_id(), [&](uint32_t offset) { return stage + offset; });
        sync_warp();
      }
    }
  }

private:
  /// 16 rows of fragments to shared memory.
  template <int Pitch>
  static DLC_DEVICE void stageRows(const Acc (&v)[NT][4], uint32_t base,
                                   int row, int column) {
    const int l = lane_id();
    DLC_UNROLL
    for (int j = 0; j < NT; j++)
      DLC_UNROLL
    for (int h = 0; h < 2; h++)
      sts(base + uint32_t(((row + l / 4 + 8 * h) * Pitch + column + 8 * j +
                           l % 4 * 2) *
                          int(sizeof(Acc))),
          Vec<Acc, 2>{{v[j][2 * h], v[j][2 * h + 1]}});
  }
  /// Rows x Columns of shared memory to the epilogue, shared out to Threads.
  template <int Rows, int Columns, int Pitch, int Threads, class P, class Index,
            class Address>
  static DLC_DEVICE void storeRows(const P &p, Index b, Index m0, Index n0,
                                   int thread, Address address) {
    const Index M = Problem::m(p), N = Problem::n(p);
    constexpr int kItems = Rows * Columns / kVector;
    DLC_UNROLL
    for (int at = 0; at < kItems; at += Threads) {
      const int item = at + thread;
      if (kItems % Threads && item >= kItems)
        break;
      int r, c;
      if constexpr (Problem::kStoreAlongM) {
        r = item % Rows;
        c = item / Rows;
      } else {
        r = item / (Columns / kVector);
        c = item % (Columns / kVector) * kVector;
      }
      const Index m = m0 + r, n = n0 + c;
      if (m >= M || n >= N)
        continue;
      Acc v[kVector];
      load(v, address(uint32_t((r * Pitch + c) * int(sizeof(Acc)))));
      if (kVector == 1 || n + kVector <= N)
        Problem::template apply<kVector>(p, b, m, n, v);
      else
        for (int e = 0; e < kVector && n + e < N; e++) {
          const Acc one[1] = {v[e]};
          Problem::template apply<1>(p, b, m, n + e, one);
        }
    }
  }
  static DLC_DEVICE void load(Acc (&v)[kVector], uint32_t a) {
    constexpr int kPer =
        kVector * int(sizeof(Acc)) < 16 ? kVector : 16 / int(sizeof(Acc));
    DLC_UNROLL
    for (int e = 0; e < kVector; e += kPer) {
      const auto w =
          lds<Vec<Acc, kPer>>(a + uint32_t(e) * uint32_t(sizeof(Acc)));
      DLC_UNROLL
      for (int q = 0; q < kPer; q++)
        v[e + q] = w[q];
    }
  }

  /// Each block puts its partial tile into its own shared memory; block r then
  /// adds slice r of all of them, in the order of k, and runs its epilogue.
  template <class P, class Index>
  static DLC_DEVICE void cluster(const P &p, const Acc (&acc)[MT][NT][4],
                                 Index b, Index m0, Index n0, int part,
                                 uint8_t *smem) {
#if defined(DLC_HOST) || __CUDA_ARCH__ >= 900
    constexpr int kRows = (BM + S - 1) / S;
    static_assert(BM % S == 0);
    const int warp = warp_id();
    const uint32_t base = shared_address(smem);
    DLC_UNROLL
    for (int i = 0; i < MT; i++)
      stageRows<kTilePitch>(acc[i], base, Config::row(warp, i),
                            Config::column(warp));
    cluster_sync();
    // Sums in place: nobody else reads this slice of this block's tile but
    // this block itself.
    const uint32_t slice =
        base + uint32_t(part * kRows * kTilePitch * int(sizeof(Acc)));
    constexpr int kPer = 16 / int(sizeof(Acc));
    constexpr int kItems = kRows * BN / kPer;
    for (int item = int(threadIdx.x); item < kItems; item += Config::kThreads) {
      const uint32_t at = slice + uint32_t((item / (BN / kPer) * kTilePitch +
                                            item % (BN / kPer) * kPer) *
                                           int(sizeof(Acc)));
      Vec<Acc, kPer> sum = lds_peer<Vec<Acc, kPer>>(peer_address(at, 0));
      DLC_UNROLL
      for (int r = 1; r < S; r++) {
        const auto v = lds_peer<Vec<Acc, kPer>>(peer_address(at, uint32_t(r)));
        DLC_UNROLL
        for (int q = 0; q < kPer; q++)
          sum[q] += v[q];
      }
      sts(at, sum);
    }
    sync_warp(); // the cluster's barrier wants whole warps
    cluster_arrive(); // peers may leave once everyone has read
    sync_block();
    storeRows<kRows, BN, kTilePitch, Config::kThreads>(
        p, b, m0 + part * kRows, n0, int(threadIdx.x),
        [&](uint32_t offset) { return slice + offset; });
    sync_warp();
    cluster_wait();
#endif
  }

  // A partial tile in the workspace: [tile][part][element][thread], so that
  // every access is coalesced.
  static constexpr int kTileElements = BM * BN;
  static DLC_DEVICE int64_t place(uint32_t tile, int part, int fragment) {
    return (int64_t(tile) * S + part) * kTileElements +
           (fragment * Config::kThreads + int(threadIdx.x)) * 4;
  }
  /// Writes this part's sums; true in the block that came last.
  template <class P>
  static DLC_DEVICE bool publish(const P &p, const Acc (&acc)[MT][NT][4],
                                 uint32_t tile, int part, uint8_t *smem) {
    constexpr int V = sizeof(Acc) == 8 ? 2 : 4;
    Acc *w = Problem::workspace(p);
    DLC_UNROLL
    for (int i = 0; i < MT; i++)
      DLC_UNROLL
    for (int j = 0; j < NT; j++)
      DLC_UNROLL
    for (int e = 0; e < 4; e += V) {
      Vec<Acc, V> v;
      DLC_UNROLL
      for (int q = 0; q < V; q++)
        v[q] = acc[i][j][e + q];
      stv<V>(w, place(tile, part, i * NT + j) + e, v);
    }
    fence_gpu();
    sync_block();
    const uint32_t flag = shared_address(smem);
    if (threadIdx.x == 0) {
      int32_t *counter = Problem::counters(p);
      const int32_t before = atomic_add(counter, tile, int32_t(1));
      if (before == S - 1)
        st(counter, tile, int32_t(0)); // for the next launch
      sts(flag, before);
    }
    sync_block();
    const bool last = lds<int32_t>(flag) == S - 1;
    sync_block();
    fence_gpu();
    return last;
  }
  /// The sum of all parts of the fragments of row block i.
  template <class P>
  static DLC_DEVICE void gather(const P &p, Acc (&sum)[NT][4], uint32_t tile,
                                int i) {
    constexpr int V = sizeof(Acc) == 8 ? 2 : 4;
    const Acc *w = Problem::workspace(p);
    DLC_UNROLL
    for (int j = 0; j < NT; j++)
      DLC_UNROLL
    for (int e = 0; e < 4; e += V) {
      Vec<Acc, V> v = ldv<V>(w, place(tile, 0, i * NT + j) + e);
      for (int r = 1; r < S; r++) {
        const auto x = ldv<V>(w, place(tile, r, i * NT + j) + e);
        DLC_UNROLL
        for (int q = 0; q < V; q++)
          v[q] += x[q];
      }
      DLC_UNROLL
      for (int q = 0; q < V; q++)
        sum[j][e + q] = v[q];
    }
  }
};
} // namespace dlc::dev
