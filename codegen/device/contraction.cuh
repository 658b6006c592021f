// SPDX-License-Identifier: Apache-2.0
// Contraction D[b][m][n] = epilogue(sum over k of A[b][m][k] * B[b][n][k]):
// matmul, linear layers, implicit-GEMM convolution.
//
// An emitted kernel:
//
//   #include "dlc/contraction.cuh"
//   using namespace dlc::dev;
//   using Index = int32_t;
//   struct P { void *buffer[4]; int64_t symbol[1]; };
//   struct Problem {
//     using In = half_t;           // in shared memory: half_t bf16_t float
//                                  // double int8_t int32_t ...
//     using Acc = float;           // float, int32_t for integers, double
//     static DLC_DEVICE Index batch(const P &p) { return 1; }
//     static DLC_DEVICE Index m(const P &p) { return p.symbol[0] * 196; }
//     static DLC_DEVICE Index n(const P &p) { return 256; }
//     static DLC_DEVICE Index k(const P &p) { return 1152; }
//
//     // Elements of one copy along k: kVector * sizeof(In) is 4, 8 or 16
//     // bytes, addresses are aligned to it and k divides by it; or 1.
//     static constexpr int kVectorA = 8, kVectorB = 8;
//     // B is [n][k]; true: [k][n], copies run along n (n divides by kVectorB)
//     static constexpr bool kTransposedB = false;
//     // B holds weights: it is fetched before pdl_wait().
//     static constexpr bool kConstantB = true;
//
//     // State of one row of A, made once. 0 <= m < m(p).
//     struct RowA { DLC_DEVICE RowA(const P &p, Index b, Index m); ... };
//     // kVectorA > 1: where elements k .. k + kVectorA - 1 lie in memory,
//     // nullptr for zeros. 0 <= k < k(p).
//     static DLC_DEVICE const In *address(const P &p, const RowA &r, Index k);
//     // kVectorA == 1: the element (prologue applied, zero outside)
//     static DLC_DEVICE In value(const P &p, const RowA &r, Index k);
//
//     // The same for B: a row is one n; with kTransposedB one k, and the last
//     // argument of address and value is n.
//     struct RowB { DLC_DEVICE RowB(const P &p, Index b, Index n); ... };
//
//     // Results: V consecutive n of one row. V is 1, or kVectorC where all V
//     // lie inside (n aligned to V).
//     static constexpr int kVectorC = 8;   // 1, 2, 4, 8
//     // Consecutive lanes take consecutive m (results whose m is contiguous,
//     // as NCHW); then kVectorC is 1.
//     static constexpr bool kStoreAlongM = false;
//     template <int V>
//     static DLC_DEVICE void apply(const P &p, Index b, Index m, Index n,
//                                  const Acc (&v)[V]);
//
//     // Only when Config::kSplit is workspace: kSplitK * tiles * BM * BN
//     // elements of Acc, and one int32 per tile, zero before the first launch
//     // and left zero by every launch.
//     static DLC_DEVICE Acc *workspace(const P &p);
//     static DLC_DEVICE int32_t *counters(const P &p);
//   };
//   // BM BN BK warpsM warpsN stages splitK split tensorCores earlyLaunch
//   using Config = ContractionConfig<128, 64, 32, 2, 2, 4, 1, Split::None,
//                                    true, false>;
//   DLC_KERNEL(dlc_matmul_..., P, 128, 1, 40960) {
//     ContractionTile<Problem, Config>::run(p, blockIdx.x, smem);
//   }
//
// threads = 32 warpsM warpsN; smem = Config::smemBytes<In, Acc>(); grid.x =
// batch * ceil(m / BM) * ceil(n / BN) * splitK, with Split::Cluster launched in
// clusters of splitK blocks. BK * sizeof(In) is 32, 64 or 128 bytes; BM a
// multiple of 16 warpsM, BN of 16 warpsN. Partial sums of split k are added in
// the order of k, so results do not vary.
#pragma once
#include "dlc/contraction_load.cuh"
#include "dlc/contraction_store.cuh"
#include "dlc/kernel.cuh"
#include "dlc/ptx/fence.cuh"
#include "dlc/ptx/wgmma.cuh"
#include "dlc/warp_tile.cuh"

namespace dlc::dev {
template <class Config, class In, class Acc>
constexpr int contraction_smem_bytes() {
  const int stages =
      Config::Stages * (Config::BM + Config::BN) * Config::BK * int(sizeof(In));
  const int store =
      int(sizeof(Acc)) * (Config::kSplit == Split::Cluster
                              ? Config::BM * (Config::BN + 8)
                              : Config::kThreads / 32 * 16 * (Config::WN + 8));
  return (stages > store ? stages : store) + 16;
}

template <int BM_, int BN_, int BK_, int WarpsM_, int WarpsN_, int Stages_,
          int SplitK_ = 1, Split Split_ = Split::None, bool TensorCores_ = true,
          bool EarlyLaunch_ = false, int GroupM_ = 8>
struct ContractionConfig {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, WarpsM = WarpsM_,
                       WarpsN = WarpsN_, Stages = Stages_, SplitK = SplitK_,
                       GroupM = GroupM_;
  static constexpr Split kSplit = Split_;
  static constexpr bool kTensorCores = TensorCores_,
                        kEarlyLaunch = EarlyLaunch_;
  static constexpr int kThreads = 32 * WarpsM * WarpsN;
  static constexpr int WM = BM / WarpsM, WN = BN / WarpsN;
  static constexpr bool kWgmma = false;
  static constexpr int MT = WM / 16; // 16-row blocks of a warp
  static_assert(WM % 16 == 0 && WN % 16 == 0 && Stages >= 2);
  static_assert((SplitK == 1) == (kSplit == Split::None));
  /// Where block i of a warp lies in the tile.
  static DLC_DEVICE int row(int warp, int i) {
    return warp / WarpsN * WM + 16 * i;
  }
  static DLC_DEVICE int column(int warp) { return warp % WarpsN * WN; }
  /// Dynamic shared memory of the kernel.
  template <class In, class Acc> static constexpr int smemBytes() {
    return contraction_smem_bytes<ContractionConfig, In, Acc>();
  }
};

/// Warpgroups with wgmma (sm_90a; half_t and bf16_t, B as [n][k]): tiles of
/// 64 MTiles rows for each of Warpgroups, BN a multiple of 16 up to 256, steps
/// of 128 bytes of k. 32 * 4 * Warpgroups threads, Stages >= 3.
template <int Warpgroups_, int MTiles_, int BN_, int Stages_, int SplitK_ = 1,
          Split Split_ = Split::None, bool EarlyLaunch_ = false,
          int GroupM_ = 8>
struct WgmmaConfig {
  static constexpr int BM = 64 * MTiles_ * Warpgroups_, BN = BN_, BK = 64,
                       WarpsM = 4 * Warpgroups_, WarpsN = 1, Stages = Stages_,
                       SplitK = SplitK_, GroupM = GroupM_;
  static constexpr Split kSplit = Split_;
  static constexpr bool kTensorCores = true, kEarlyLaunch = EarlyLaunch_,
                        kWgmma = true;
  static constexpr int kThreads = 128 * Warpgroups_;
  static constexpr int MT = MTiles_, WN = BN;
  static_assert(BN % 16 == 0 && BN <= 256 && Stages >= 3);
  static_assert((SplitK == 1) == (kSplit == Split::None));
  static DLC_DEVICE int row(int warp, int i) {
    return warp / 4 * 64 * MT + 64 * i + warp % 4 * 16;
  }
  static DLC_DEVICE int column(int) { return 0; }
  template <class In, class Acc> static constexpr int smemBytes() {
    return contraction_smem_bytes<WgmmaConfig, In, Acc>();
  }
};

template <class Problem, class Config> struct ContractionTile {
  using In = typename Problem::In;
  using Acc = typename Problem::Acc;
  static constexpr int BM = Config::BM, BN = Config::BN, BK = Config::BK,
                       Stages = Config::Stages;
  static constexpr int kRowBytesA = BK * int(sizeof(In));
  static constexpr int kRowBytesB =
      (Problem::kTransposedB ? BN : BK) * int(sizeof(In));
  static constexpr int MT = Config::MT, NT = Config::WN / 8;
  static constexpr int kStageBytes = (BM + BN) * kRowBytesA;
  static_assert(kRowBytesA == 32 || kRowBytesA == 64 || kRowBytesA == 128);
  static_assert(!Config::kWgmma || (kIs16<In> && !Problem::kTransposedB));
  using Product = WarpTile<In, Acc, Config::kTensorCores, MT, NT, kRowBytesA,
                           kRowBytesB, Problem::kTransposedB>;

  /// One tile (of one part of k); `tile` is the block's number.
  template <class P>
  static DLC_DEVICE void run(const P &p, uint32_t tile, uint8_t *smem) {
    using Index = decltype(Problem::m(p));
    const Index M = Problem::m(p), N = Problem::n(p), K = Problem::k(p);
    const Index tilesM = (M + BM - 1) / BM, tilesN = (N + BN - 1) / BN;
    const int part = int(tile % Config::SplitK);
    Index t = Index(tile / Config::SplitK);
    // Work whose size a kernel counted is launched at its bound: blocks past
    // the true end, all of them where there is nothing, only keep their order.
    if (t >= tilesM * tilesN * Problem::batch(p)) {
      pdl_wait();
      return;
    }
    const Index b = t / (tilesM * tilesN);
    t -= b * (tilesM * tilesN);
    // GroupM tiles of m before n advances: both operands stay in L2.
    const Index group = t / (Config::GroupM * tilesN),
                first = group * Config::GroupM,
                size = tilesM - first < Config::GroupM ? tilesM - first
                                                       : Index(Config::GroupM);
    t -= first * tilesN;
    const Index m0 = (first + t % size) * BM, n0 = t / size * BN;

    // This part's share of k, in whole steps.
    const Index steps = (K + BK - 1) / BK;
    const Index step0 = steps * part / Config::SplitK,
                step1 = steps * (part + 1) / Config::SplitK;

    if constexpr (Config::kEarlyLaunch)
      pdl_launch();
    Acc acc[MT][NT][4];
    DLC_UNROLL
    for (int i = 0; i < MT; i++)
      DLC_UNROLL
    for (int j = 0; j < NT; j++)
      DLC_UNROLL
    for (int e = 0; e < 4; e++)
      acc[i][j][e] = Acc(0);
    accumulate(p, acc, b, m0, n0, step0, step1, shared_address(smem));
    if constexpr (!Config::kEarlyLaunch)
      pdl_launch();
    ContractionStore<Problem, Config>::run(p, acc, b, m0, n0,
                                           tile / Config::SplitK, part, smem);
  }

private:
  template <class P, class Index>
  static DLC_DEVICE void accumulate(const P &p, Acc (&acc)[MT][NT][4], Index b,
                                    Index m0, Index n0, Index step0,
                                    Index step1, uint32_t smem) {
    const int warp = warp_id();
    RowLoader<Problem, typename Problem::RowA, BM, BK, Problem::kVectorA,
              Config::kThreads>
        loadA(p, b, m0, Problem::m(p));
    LoaderB<Problem, BN, BK, Config::kThreads> loadB(p, b, n0, Problem::n(p));
    auto slotA = [&](int s) { return smem + uint32_t(s * kStageBytes); };
    auto slotB = [&](int s) {
      return smem + uint32_t(s * kStageBytes + BM * kRowBytesA);
    };

    // Steps loaded ahead. wgmma still reads the slot of the step before while
    // the next one is issued, so it keeps one stage more.
    constexpr int kAhead = Config::kWgmma ? Stages - 2 : Stages - 1;
    if constexpr (Problem::kConstantB) {
      DLC_UNROLL
      for (int s = 0; s < kAhead; s++)
        if (step0 + s < step1)
          loadB.now(p, (step0 + s) * BK, slotB(s));
    }
    pdl_wait();
    DLC_UNROLL
    for (int s = 0; s < kAhead; s++) {
      if (step0 + s < step1) {
        loadA.now(p, (step0 + s) * BK, slotA(s));
        if constexpr (!Problem::kConstantB)
          loadB.now(p, (step0 + s) * BK, slotB(s));
      }
      cp_commit();
    }
    int slot = 0, ahead = kAhead;
    for (Index step = step0; step < step1; step++) {
      cp_wait<kAhead - 1>();
      const bool more = step + kAhead < step1;
      const Index k = (step + kAhead) * BK;
      if constexpr (Config::kWgmma) {
        fence_before_products();
        sync_block();
        issue_products(acc,
                       slotA(slot) + uint32_t(Config::row(warp, 0) / 64) * 64 *
                                         kRowBytesA,
                       slotB(slot));
      } else
        sync_block();
      if (more) {
        loadA.begin(p, k, slotA(ahead));
        loadB.begin(p, k, slotB(ahead));
      }
      cp_commit();
      if constexpr (!Config::kWgmma)
        Product::run(acc, slotA(slot), Config::row(warp, 0), slotB(slot),
                     Config::column(warp));
      if (more) {
        loadA.end(slotA(ahead));
        loadB.end(slotB(ahead));
      }
      if constexpr (Config::kWgmma)
        wait_products<1>();
      slot = slot + 1 == Stages ? 0 : slot + 1;
      ahead = ahead + 1 == Stages ? 0 : ahead + 1;
    }
    if constexpr (Config::kWgmma) {
      wait_products<0>();
      hold(acc);
    }
    cp_wait<0>();
    sync_block(); // the stages become the staging of the results
  }

#if defined(DLC_HOST) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  static DLC_DEVICE void fence_before_products() { fence_async_proxy(); }
  /// One step of a warpgroup, asynchronous.
  static DLC_DEVICE void issue_products(Acc (&acc)[MT][NT][4], uint32_t a,
                                        uint32_t b) {
    wgmma_fence();
    const uint64_t db = descriptor128(b);
    DLC_UNROLL
    for (int kk = 0; kk < kRowBytesA / 32; kk++)
      DLC_UNROLL
    for (int i = 0; i < MT; i++)
      Wgmma<In, NT * 8>::template ss<0, 0>(
          flat(acc[i]),
          descriptor128(a + uint32_t(i * 64 * kRowBytesA)) + uint64_t(2 * kk),
          db + uint64_t(2 * kk), 1);
    wgmma_commit();
  }
  template <int N> static DLC_DEVICE void wait_products() { wgmma_wait<N>(); }
  static DLC_DEVICE void hold(Acc (&acc)[MT][NT][4]) {
    DLC_UNROLL
    for (int i = 0; i < MT; i++)
      wgmma_hold(flat(acc[i]));
  }
  static DLC_DEVICE auto flat(Acc (&d)[NT][4]) -> Acc (&)[NT * 4] {
    return reinterpret_cast<Acc(&)[NT * 4]>(d);
  }
#else
  // Named by discarded statements.
  static DLC_DEVICE void fence_before_products() {}
  static DLC_DEVICE void issue_products(Acc (&)[MT][NT][4], uint32_t,
                                        uint32_t) {}
  template <int N> static DLC_DEVICE void wait_products() {}
  static DLC_DEVICE void hold(Acc (&)[MT][NT][4]) {}
#endif
};
} // namespace dlc::dev
