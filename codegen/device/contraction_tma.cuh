// SPDX-License-Identifier: Apache-2.0
// Contraction D[b][m][n] = epilogue(sum over k of A[b][m][k] * B[b][n][k])
// with operands that the tensor memory accelerator fetches and warpgroups that
// multiply (sm_90a; half_t and bf16_t): what contraction.cuh does, where both
// operands lie in memory as they are.
//
// An emitted kernel:
//
//   #include "dlc/contraction_tma.cuh"
//   struct P { CUtensorMap map[2]; void *buffer[2]; };  // map 0: A, 1: B
//   struct Problem {
//     using In = half_t;
//     batch, m, n, k, kConstantB, kVectorC: as for contraction.cuh; n divides
//     by kVectorC
//     // Dimensions of the maps; Window goes with Taps, Rows and Batches with
//     // each other. Boxes are 64 elements of k (of channels) by BM rows of A
//     // (pixels of an im2col map) or BN rows of B, swizzled by 128 bytes.
//     static constexpr Source kSourceA = Source::Window,
//                             kSourceB = Source::Taps;
//     static DLC_DEVICE Window window(const P &p) { return {28, 28, ...}; }
//     // Results: V consecutive n of one row, in two steps. What is read
//     // besides the sums is read by the first.
//     template <int V>
//     static DLC_DEVICE auto prepare(const P &p, Index b, Index m, Index n) {
//       const auto x = ldv<V>(...);
//       return [=, &p](const float (&v)[V]) { ... };
//     }
//   };
//   // swap groups mTiles BY stages kSub splitK schedule
//   using Config = TmaConfig<false, 2, 1, 128, 4, 1, 1, Schedule::Cooperative>;
//   DLC_KERNEL(dlc_conv_..., P, Config::kThreads, Config::kMinBlocks, N) {
//     TmaContraction<Problem, Config>::run(p, blockIdx.x, smem);
//   }
//
// The operand on wgmma's M side is X (64 MTiles rows for each of Groups
// warpgroups), the other one Y (BY rows). X is A, and Y is B; with Swap X is B:
// tiles may then have any multiple of 8 rows of m.
//
// Schedules. Cooperative: all warpgroups work on one tile, blocks take tile
// after tile. Pingpong: two warpgroups, each with a tile of its own; while one
// multiplies, the other one stores. Latency (with Swap): a block has one tile,
// of a cluster of SplitK blocks that share out k; several blocks fit on a
// multiprocessor.
//
// threads = kThreads; smem = smemBytes(); grid.x = any number of blocks up to
// the tiles (Latency: tiles * SplitK, in clusters of SplitK).
//
// A ring of Stages stages of KSub steps of k. Two threads fill it, one for
// each operand, so that weights can be fetched before pdl_wait(); full[s]
// counts both and their bytes, empty[s] the warpgroups that are done.
#pragma once
#include "dlc/contraction_tma_load.cuh"
#include "dlc/contraction_tma_store.cuh"
#include "dlc/kernel.cuh"
#include "dlc/ptx/registers.cuh"
#include "dlc/ptx/wgmma.cuh"

namespace dlc::dev {
enum class Schedule { Cooperative, Pingpong, Latency };

template <bool Swap_, int Groups_, int MTiles_, int BY_, int Stages_, int KSub_,
          int SplitK_, Schedule Schedule_, bool EarlyLaunch_ = true,
          int GroupM_ = 8>
struct TmaConfig {
  static constexpr bool Swap = Swap_, EarlyLaunch = EarlyLaunch_;
  static constexpr int Groups = Groups_, MTiles = MTiles_, BY = BY_,
                       Stages = Stages_, KSub = KSub_, SplitK = SplitK_,
                       GroupM = GroupM_;
  static constexpr bool kPingpong = Schedule_ == Schedule::Pingpong,
                        kLatency = Schedule_ == Schedule::Latency;
  static constexpr int BX = 64 * MTiles * (kPingpong ? 1 : Groups);
  static constexpr int BM = Swap ? BY : BX, BN = Swap ? BX : BY;
  /// Bytes of one step of k, and of a stage.
  static constexpr int kBytesX = BX * 128, kBytesY = BY * 128,
                       kStage = (kBytesX + kBytesY) * KSub;
  /// Column groups of 8, and those that a block of a cluster sums.
  static constexpr int kColumns = BY / 8,
                       kSlice = (kColumns + SplitK - 1) / SplitK;
  /// What the epilogue works on at a time: a warp, with Swap a warpgroup, which
  /// has it in shared memory with a pitch that keeps rows in different banks.
  static constexpr int kPanelM = !Swap      ? 16
                                 : kLatency ? kSlice * 8
                                 : BY < 64  ? BY
                                            : 64;
  static constexpr int kPanelN =
      Swap || (BY % 64 == 0 && MTiles * BY <= 128) ? 64 : 32;
  static constexpr int kPitch = 64 + 4;
  static constexpr int kStaging = Swap ? kPanelM * kPitch * 4 : 0;
  static constexpr int kReceived =
      SplitK > 1 ? SplitK *Groups *kSlice * 2048 : 0;
  /// Offsets in shared memory. The staging of Latency lies in the ring.
  static constexpr int kRing = Stages * kStage,
                       kStagingAt = kLatency ? 0 : kRing,
                       kReceivedAt = kLatency && kRing > Groups *kStaging
                                         ? kRing
                                         : kStagingAt + Groups *kStaging,
                       kBarriersAt = kReceivedAt + kReceived;
  static constexpr int smemBytes() {
    return kBarriersAt + 8 * (2 * Stages + 1);
  }
  /// Two warps of producers; or a warpgroup, which gives its registers away.
  static constexpr int kThreads =
      kLatency ? 128 * Groups + 64 : 128 * (Groups + 1);
  static constexpr int kMinBlocks = !kLatency            ? 1
                                    : BY * Groups <= 64  ? 3
                                    : BY * Groups <= 128 ? 2
                                                         : 1;
  static constexpr int kRegisters = Groups == 2 ? 232 : 160,
                       kProducerRegisters = Groups == 2 ? 40 : 32;
  static_assert(BY % 8 == 0 && MTiles * BY <= 256 && BX <= 256);
  static_assert(Swap || BY % 32 == 0);
  // A slot is freed one step late: a single one would deadlock.
  static_assert(Stages >= 2);
  static_assert(kLatency ? Swap && MTiles == 1 : Groups >= 2 && SplitK == 1);
  static_assert(!kPingpong || Groups == 2);
};

template <class Problem, class Config> struct TmaContraction {
  using In = typename Problem::In;
  static constexpr int BM = Config::BM, BN = Config::BN, BY = Config::BY,
                       MT = Config::MTiles, Groups = Config::Groups,
                       Stages = Config::Stages, KSub = Config::KSub,
                       SplitK = Config::SplitK;
  static_assert(kIs16<In>);

  template <class P>
  static DLC_DEVICE void run(const P &p, uint32_t block, uint8_t *smem) {
#if defined(DLC_HOST) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    // Left to itself the compiler recomputes the base from the cluster's rank
    // at every use; what has been through a shuffle it keeps.
    const uint32_t base = shfl(shared_address(smem), 0);
    const Share<P> share(p, block);
    const int group = warp_id() / 4;
    if (threadIdx.x == 0)
      prepareBarriers(p, base, share.rank);
    if constexpr (Config::kLatency && Config::EarlyLaunch)
      pdl_launch();
    sync_block();
    if constexpr (SplitK > 1)
      cluster_arrive(); // for cluster_wait() before sums are sent
    if (group == Groups) {
      if constexpr (!Config::kLatency)
        give_registers<Config::kProducerRegisters>();
      const int warp = warp_id() - 4 * Groups;
      if (warp == 0 && elect())
        produce<false>(p, base, share);
      else if (warp == 1 && elect())
        produce<true>(p, base, share);
    } else {
      if constexpr (!Config::kLatency)
        take_registers<Config::kRegisters>();
      pdl_wait(); // what the epilogue reads, and who still reads its results
      consume(p, base, share, group);
    }
#endif
  }

private:
#if defined(DLC_HOST) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  /// Which tiles and which units (KSub steps) of k are a block's.
  template <class P> struct Share {
    using Index = decltype(Problem::m(*static_cast<const P *>(nullptr)));
    Index tilesM, tilesN, tiles, first, stride;
    int rank, unit0, units;
    DLC_DEVICE Share(const P &p, uint32_t block)
        : tilesM((Problem::m(p) + BM - 1) / BM),
          tilesN((Problem::n(p) + BN - 1) / BN),
          tiles(tilesM * tilesN * Problem::batch(p)),
          first(Index(block / SplitK)), stride(Index(gridDim.x / SplitK)),
          rank(int(block % SplitK)) {
      const int all = tma_steps<Problem>(p, int(Problem::k(p))) / KSub;
      unit0 = all * rank / SplitK;
      units = all * (rank + 1) / SplitK - unit0;
    }
  };
  struct Tile {
    int b, m0, n0;
    /// GroupM tiles of m before n advances: both operands stay in L2.
    template <class P, class Index>
    DLC_DEVICE Tile(const Share<P> &s, Index t) {
      constexpr int GroupM = Config::GroupM;
      b = int(t / (s.tilesM * s.tilesN));
      t -= Index(b) * (s.tilesM * s.tilesN);
      const Index first = t / (GroupM * s.tilesN) * GroupM,
                  size = s.tilesM - first < GroupM ? s.tilesM - first
                                                   : Index(GroupM);
      t -= first * s.tilesN;
      m0 = int(first + t % size) * BM;
      n0 = int(t / size) * BN;
    }
  };
  static DLC_DEVICE uint32_t full(uint32_t base, int slot) {
    return base + uint32_t(Config::kBarriersAt + 8 * slot);
  }
  static DLC_DEVICE uint32_t empty(uint32_t base, int slot) {
    return full(base, Stages + slot);
  }
  static DLC_DEVICE uint32_t received(uint32_t base) {
    return full(base, 2 * Stages);
  }
  /// Step `sub` of a slot: X, and Y behind all of X.
  static DLC_DEVICE uint32_t slotX(uint32_t base, int slot, int sub) {
    return base + uint32_t(slot * Config::kStage + sub * Config::kBytesX);
  }
  static DLC_DEVICE uint32_t slotY(uint32_t base, int slot, int sub) {
    return base + uint32_t(slot * Config::kStage + KSub * Config::kBytesX +
                           sub * Config::kBytesY);
  }

  template <class P>
  static DLC_DEVICE void prepareBarriers(const P &p, uint32_t base, int rank) {
    tma_prefetch_map(&p.map[0]);
    tma_prefetch_map(&p.map[1]);
    for (int s = 0; s < Stages; s++) {
      mbar_init(full(base, s), 2);
      mbar_init(empty(base, s), Config::kPingpong ? 1 : Groups);
    }
    if constexpr (SplitK > 1) {
      using Store = TmaLatencyStore<Problem, Config>;
      mbar_init(received(base), 1);
      if (const uint32_t bytes = Store::expected(rank))
        mbar_expect(received(base), bytes);
    }
    fence_barrier_init();
  }

  /// One thread: all steps of A or B of the block's tiles into the ring.
  template <bool IsA, class P>
  static DLC_DEVICE void produce(const P &p, uint32_t base,
                                 const Share<P> &share) {
    constexpr bool kX = IsA != Config::Swap;
    constexpr int kBytes = kX ? Config::kBytesX : Config::kBytesY;
    using Reader =
        TileReader<Problem, IsA ? Problem::kSourceA : Problem::kSourceB,
                   IsA ? 0 : 1>;
    constexpr bool kWaits = IsA || !Problem::kConstantB;
    // Slots that have never been used need no wait; before the kernels before
    // have ended they can at least be armed.
    int fresh = share.units < Stages ? share.units : Stages;
    if (share.first >= share.tiles)
      fresh = 0;
    if constexpr (kWaits) {
      for (int s = 0; s < fresh; s++)
        mbar_expect(full(base, s), uint32_t(kBytes * KSub));
      pdl_wait();
    }
    int slot = 0;
    uint32_t parity = 1;
    for (auto t = share.first; t < share.tiles; t += share.stride) {
      const Tile tile(share, t);
      Reader reader(p, tile.b, IsA ? tile.m0 : tile.n0, share.unit0 * KSub);
      for (int u = 0; u < share.units; u++) {
        const bool armed = kWaits && fresh > 0;
        if (fresh > 0)
          fresh--;
        else
          mbar_wait(empty(base, slot), parity);
        if (!armed)
          mbar_expect(full(base, slot), uint32_t(kBytes * KSub));
        DLC_UNROLL
        for (int sub = 0; sub < KSub; sub++)
          reader.load(p, kX ? slotX(base, slot, sub) : slotY(base, slot, sub),
                      full(base, slot));
        if (++slot == Stages) {
          slot = 0;
          parity ^= 1;
        }
      }
    }
    if constexpr (IsA && !(Config::kLatency && Config::EarlyLaunch))
      pdl_launch();
  }

  /// A warpgroup: products and epilogues of its tiles.
  template <class P>
  static DLC_DEVICE void consume(const P &p, uint32_t base,
                                 const Share<P> &share, int group) {
    const int rowX = Config::kPingpong ? 0 : group * MT * 64;
    const uint32_t stage =
        base + uint32_t(Config::kStagingAt + group * Config::kStaging);
    constexpr int kTurns = Config::kPingpong ? 2 : 1;
    const int turn = Config::kPingpong ? group : 0;
    Ring ring(turn * share.units);
    if constexpr (Config::kPingpong)
      if (group == 1 && share.first < share.tiles)
        bar_arrive<4, 256>(); // the first turn is the other one's
    for (auto t = share.first + turn * share.stride; t < share.tiles;
         t += kTurns * share.stride) {
      const Tile tile(share, t);
      float d[MT][BY / 2]; // not live from one tile to the next
      const int m0 = tile.m0 + (Config::Swap ? 0 : rowX),
                n0 = tile.n0 + (Config::Swap ? rowX : 0);
      if constexpr (Config::kLatency) {
        TmaLatencyStore<Problem, Config>::run(
            p, d[0], tile.b, m0, n0, group, share.rank, stage,
            base + uint32_t(Config::kReceivedAt), received(base),
            [&] { multiply(d, base, rowX, share.units, ring); });
      } else {
        TmaStore<Problem, Config>::run(p, d, tile.b, m0, n0, group, stage, [&] {
          if constexpr (Config::kPingpong)
            takeTurn(group);
          multiply(d, base, rowX, share.units, ring);
          if constexpr (Config::kPingpong) {
            if (t + share.stride < share.tiles)
              passTurn(group);
            ring.skip(share.units);
          }
        });
      }
    }
  }
  /// The tensor cores to one warpgroup at a time, in the order of tiles.
  static DLC_DEVICE void takeTurn(int group) {
    if (group == 0)
      bar_sync<4, 256>();
    else
      bar_sync<5, 256>();
  }
  static DLC_DEVICE void passTurn(int group) {
    if (group == 0)
      bar_arrive<5, 256>();
    else
      bar_arrive<4, 256>();
  }

  struct Ring {
    int slot;
    uint32_t parity;
    DLC_DEVICE explicit Ring(int units)
        : slot(units % Stages), parity(uint32_t(units / Stages) & 1) {}
    DLC_DEVICE void advance() {
      if (++slot == Stages) {
        slot = 0;
        parity ^= 1;
      }
    }
    DLC_DEVICE void skip(int units) {
      const int to = slot + units;
      parity ^= uint32_t(to / Stages) & 1;
      slot = to % Stages;
    }
  };
  // One arrival frees a slot: who has waited for a group of wgmma knows that
  // all four warps are done with it.
  static DLC_DEVICE void release(uint32_t base, int slot) {
    if ((threadIdx.x & 127) == 0)
      mbar_arrive(empty(base, slot));
  }
  static DLC_DEVICE void multiply(float (&d)[MT][BY / 2], uint32_t base,
                                  int rowX, int units, Ring &ring) {
    int before = -1;
    DLC_NO_UNROLL
    for (int u = 0; u < units; u++) {
      mbar_wait(full(base, ring.slot), ring.parity);
      wgmma_fence();
      DLC_UNROLL
      for (int sub = 0; sub < KSub; sub++) {
        const uint64_t x = descriptor128(slotX(base, ring.slot, sub) +
                                         uint32_t(rowX * 128)),
                       y = descriptor128(slotY(base, ring.slot, sub));
        DLC_UNROLL
        for (int kk = 0; kk < 4; kk++)
          DLC_UNROLL
        for (int i = 0; i < MT; i++)
          Wgmma<In, BY>::template ss<0, 0>(
              d[i], x + uint64_t(i * (64 * 128 >> 4) + 2 * kk),
              y + uint64_t(2 * kk), u > 0 || sub > 0 || kk > 0);
      }
      wgmma_commit();
      wgmma_wait<1>(); // the step before is complete
      if (before >= 0)
        release(base, before);
      before = ring.slot;
      ring.advance();
    }
    wgmma_wait<0>();
    DLC_UNROLL
    for (int i = 0; i < MT; i++)
      wgmma_hold(d[i]);
    if (before >= 0)
      release(base, before);
  }
#endif
};
} // namespace dlc::dev
