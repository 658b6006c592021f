// SPDX-License-Identifier: Apache-2.0
// Accumulators of contraction_tma.cuh to the epilogue, panel by panel, so that
// a lane holds V consecutive n of a row. What the epilogue of a panel reads
// (bias, residual) is fetched one panel ahead, and for the first one before the
// products.
#pragma once
#include "dlc/ptx/barrier.cuh"
#include "dlc/ptx/mbarrier.cuh"
#include "dlc/ptx/shuffle.cuh"

namespace dlc::dev {
/// Barrier of one consumer warpgroup.
template <int Groups> DLC_DEVICE void sync_group(int group) {
  if (Groups == 1 || group == 0)
    bar_sync<1, 128>();
  else if (Groups == 2 || group == 1)
    bar_sync<2, 128>();
  else
    bar_sync<3, 128>();
}

/// One panel: kPanelM rows of kPanelN columns. With Swap a warpgroup puts it
/// into shared memory, as fragments have n along X, and then shares out chunks
/// of V columns; else a warp exchanges within its quads, and each lane has
/// chunks of two rows.
template <class Problem, class Config> struct TmaPanel {
  static constexpr int BY = Config::BY, kPanelM = Config::kPanelM,
                       kPanelN = Config::kPanelN, kPitch = Config::kPitch;
  static constexpr int kVector = Problem::kVectorC;
  static constexpr int kChunks = kPanelN / 8; ///< of a row
  static constexpr int kThreads = Config::Swap ? 128 : 32;
  static constexpr int kItems = (kPanelM * kChunks + kThreads - 1) / kThreads;
  /// An item is 8 columns, one or several vectors.
  static constexpr int kVectors = 8 / kVector;

  /// The panel's first element; rows from `end` on are another tile's.
  template <class Index> struct Place { Index b, m, n, end; };

  /// Of item I: its row and its column in the panel.
  template <int I> static DLC_DEVICE int row() {
    if constexpr (Config::Swap)
      return (I * kThreads + int(threadIdx.x & 127)) / kChunks;
    else
      return lane_id() / 4 + I % 2 * 8;
  }
  template <int I> static DLC_DEVICE int column() {
    if constexpr (Config::Swap)
      return int(threadIdx.x) % kChunks * 8;
    else
      return (lane_id() % 4 + I / 2 * 4) * 8;
  }

  /// Vectors E and up of an item.
  template <class P, class Index, int E = 0, bool Any = (E < kVectors)>
  struct Vectors {
    using Vector = decltype(Problem::template prepare<kVector>(
        *static_cast<const P *>(nullptr), Index(0), Index(0), Index(0)));
    Vector vector;
    bool inside;
    Vectors<P, Index, E + 1> others;
    // Outside nothing is stored, but an address must be good.
    DLC_DEVICE Vectors(const P &p, Index b, Index m, Index n, bool row)
        : vector(Problem::template prepare<kVector>(
              p, b, row ? m : Index(0),
              n + E * kVector < Problem::n(p) ? n + E * kVector : Index(0))),
          inside(row && n + E * kVector < Problem::n(p)),
          others(p, b, m, n, row) {}
    DLC_DEVICE void store(const float (&v)[8]) {
      if (inside) {
        float mine[kVector];
        DLC_UNROLL
        for (int e = 0; e < kVector; e++)
          mine[e] = v[E * kVector + e];
        vector(mine);
      }
      others.store(v);
    }
  };
  template <class P, class Index, int E> struct Vectors<P, Index, E, false> {
    DLC_DEVICE Vectors(const P &, Index, Index, Index, bool) {}
    DLC_DEVICE void store(const float (&)[8]) {}
  };

  /// A thread's items number I and up. Making them starts their epilogues, and
  /// with that the loads of these.
  template <class P, class Index, int I = 0, bool Any = (I < kItems)>
  struct Items {
    Vectors<P, Index> vectors;
    Items<P, Index, I + 1> others;
    DLC_DEVICE Items(const P &p, const Place<Index> &at)
        : vectors(
              p, at.b, at.m + row<I>(), at.n + column<I>(),
              at.m + row<I>() < Problem::m(p) && at.m + row<I>() < at.end &&
                  (kPanelM * kChunks % kThreads == 0 || row<I>() < kPanelM)),
          others(p, at) {}
    /// sums(I, v) gives an item's columns.
    template <class Sums> DLC_DEVICE void store(Sums sums) {
      float v[8];
      sums(I, v);
      vectors.store(v);
      others.store(sums);
    }
  };
  template <class P, class Index, int I> struct Items<P, Index, I, false> {
    DLC_DEVICE Items(const P &, const Place<Index> &) {}
    template <class Sums> DLC_DEVICE void store(Sums) {}
  };

  //===--- With Swap ------------------------------------------------------===//
  // Column n of a panel lies at n, and the right half with its groups of four
  // exchanged: then chunks of eight lanes lie in different banks.

  /// Column groups (8 of Y each) from j0 on.
  static DLC_DEVICE void stageColumns(const float (&d)[BY / 2], int j0,
                                      uint32_t stage) {
    DLC_UNROLL
    for (int j = 0; j < kPanelM / 8; j++)
      if (j0 + j < BY / 8)
        stageColumn(fragment(d, j0 + j), j, stage);
  }
  static DLC_DEVICE Vec<float, 4> fragment(const float (&d)[BY / 2], int j) {
    return {{d[4 * j], d[4 * j + 1], d[4 * j + 2], d[4 * j + 3]}};
  }
  static DLC_DEVICE void stageColumn(const Vec<float, 4> &v, int j,
                                     uint32_t stage) {
    const int l = lane_id(), warp = warp_id() & 3;
    const int n = warp * 16 + (l / 4 ^ (warp & 2) * 2);
    DLC_UNROLL
    for (int e = 0; e < 4; e++)
      sts(stage + uint32_t(
                      ((8 * j + l % 4 * 2 + e % 2) * kPitch + n + 8 * (e / 2)) *
                      int(sizeof(float))),
          v[e]);
  }
  template <class Items>
  static DLC_DEVICE void storeStaged(Items &items, uint32_t stage) {
    items.store([=](int i, float(&v)[8]) {
      const int r = (i * kThreads + int(threadIdx.x & 127)) / kChunks,
                c = int(threadIdx.x) % kChunks;
      // Rows beyond the panel are not stored.
      const uint32_t a =
          stage + uint32_t(((r < kPanelM ? r : 0) * kPitch + 8 * c) * 4);
      const auto low = lds<Vec<float, 4>>(a + uint32_t(c & 4) * 4),
                 high = lds<Vec<float, 4>>(a + 16 - uint32_t(c & 4) * 4);
      DLC_UNROLL
      for (int e = 0; e < 4; e++) {
        v[e] = low[e];
        v[4 + e] = high[e];
      }
    });
  }

  //===--- Without Swap ---------------------------------------------------===//

  /// Column groups from j0 on: lane q of a quad gets group q of four, of each
  /// of the fragment's two rows.
  template <class Items>
  static DLC_DEVICE void storeFragments(Items &items, const float (&d)[BY / 2],
                                        int j0) {
    items.store([&](int i, float(&v)[8]) {
      const int q = lane_id() % 4, first = j0 + i / 2 * 4, h = i % 2 * 2;
      Vec<float, 2> x[4];
      DLC_UNROLL
      for (int j = 0; j < 4; j++)
        x[j] = {{d[4 * (first + j) + h], d[4 * (first + j) + h + 1]}};
      DLC_UNROLL
      for (int mask = 1; mask <= 2; mask *= 2) {
        const bool upper = q & mask;
        DLC_UNROLL
        for (int j = 0; j < 4; j++) {
          if (j & mask)
            continue;
          const auto got = shfl_xor(upper ? x[j] : x[j + mask], mask);
          (upper ? x[j] : x[j + mask]) = got;
        }
      }
      DLC_UNROLL
      for (int e = 0; e < 8; e++)
        v[e] = x[e / 2][e % 2];
    });
  }
};

/// The epilogue of one warpgroup's tile, without split k.
template <class Problem, class Config> struct TmaStore {
  using Panel = TmaPanel<Problem, Config>;
  static constexpr int BY = Config::BY, MT = Config::MTiles;
  static constexpr int kPanelM = Config::kPanelM, kPanelN = Config::kPanelN;
  /// Panels of 64 rows of X, and of all.
  static constexpr int kAlongY =
      Config::Swap ? (BY + kPanelM - 1) / kPanelM : BY / kPanelN;
  static constexpr int kPanels = MT * kAlongY;

  template <class Index> struct Tile {
    Index b, m0, n0;
    int group;
    uint32_t stage;
  };

  /// Rows from m0 on, columns from n0 on (64 MTiles of X, BY of Y); `products`
  /// leaves the sums in d. stage: the warpgroup's part of the staging.
  template <class P, class Index, class Products>
  static DLC_DEVICE void run(const P &p, const float (&d)[MT][BY / 2], Index b,
                             Index m0, Index n0, int group, uint32_t stage,
                             Products products) {
    const Tile<Index> tile{b, m0, n0, group, stage};
    Items<P, Index> first(p, place<0>(tile));
    products();
    store<0>(p, d, tile, first);
  }

private:
  template <class P, class Index>
  using Items = typename Panel::template Items<P, Index>;

  template <int Q, class Index>
  static DLC_DEVICE typename Panel::template Place<Index>
  place(const Tile<Index> &t) {
    constexpr int i = Q / kAlongY, q = Q % kAlongY;
    if constexpr (Config::Swap)
      return {t.b, Index(t.m0 + q * kPanelM), Index(t.n0 + i * 64),
              Index(t.m0 + BY)};
    else {
      const Index m = t.m0 + i * 64 + (warp_id() & 3) * 16;
      return {t.b, m, Index(t.n0 + q * kPanelN), Index(m + 16)};
    }
  }
  /// Panels Q and up; `items` are those of Q.
  template <int Q, class P, class Index>
  static DLC_DEVICE void store(const P &p, const float (&d)[MT][BY / 2],
                               const Tile<Index> &t, Items<P, Index> &items) {
    if constexpr (Q + 1 < kPanels) {
      Items<P, Index> next(p, place<Q + 1>(t));
      storePanel<Q>(d, t, items);
      store<Q + 1>(p, d, t, next);
    } else
      storePanel<Q>(d, t, items);
  }
  template <int Q, class Index, class Items>
  static DLC_DEVICE void storePanel(const float (&d)[MT][BY / 2],
                                    const Tile<Index> &t, Items &items) {
    constexpr int i = Q / kAlongY, q = Q % kAlongY;
    if constexpr (Config::Swap) {
      sync_group<Config::Groups>(t.group); // the panel before has been read
      Panel::stageColumns(d[i], q * (kPanelM / 8), t.stage);
      sync_group<Config::Groups>(t.group);
      Panel::storeStaged(items, t.stage);
    } else
      Panel::storeFragments(items, d[i], q * (kPanelN / 8));
  }
};

/// The epilogue of Schedule::Latency: one tile, perhaps summed over a cluster.
/// Block r of it finishes slice r of the columns of Y.
template <class Problem, class Config> struct TmaLatencyStore {
  using Panel = TmaPanel<Problem, Config>;
  static constexpr int BY = Config::BY, Groups = Config::Groups,
                       S = Config::SplitK, kColumns = Config::kColumns,
                       kSlice = Config::kSlice;
  /// Bytes of one column group of a warpgroup's 64 rows.
  static constexpr int kGroupBytes = 64 * 8 * int(sizeof(float));

  /// Bytes that the peers send to block `rank`; 0: it has no slice.
  static DLC_DEVICE uint32_t expected(int rank) {
    const int mine =
        kColumns - rank * kSlice < kSlice ? kColumns - rank * kSlice : kSlice;
    return mine > 0 ? uint32_t((S - 1) * Groups * mine * kGroupBytes) : 0;
  }

  /// `products` leaves the sums in d.
  template <class P, class Index, class Products>
  static DLC_DEVICE void run(const P &p, const float (&d)[BY / 2], Index b,
                             Index m0, Index n0, int group, int rank,
                             uint32_t stage, uint32_t received, uint32_t bar,
                             Products products) {
    const typename Panel::template Place<Index> at{
        b, Index(m0 + rank * Config::kPanelM), n0, Index(m0 + BY)};
    typename Panel::template Items<P, Index> items(p, at);
    products();
    if constexpr (S > 1)
      exchange(d, group, rank, received, bar);
    // The staging lies where the operands were.
    if constexpr (Groups == 1)
      sync_group<Groups>(group);
    else
      bar_sync<4, 128 * Groups>();
    if constexpr (S > 1)
      sum(group, rank, received, stage);
    else
      Panel::stageColumns(d, 0, stage);
    sync_group<Groups>(group);
    Panel::storeStaged(items, stage);
  }

private:
  static DLC_DEVICE uint32_t place(int part, int group, int j) {
    return uint32_t(((part * Groups + group) * kSlice + j) * kGroupBytes) +
           (threadIdx.x & 127) * 16;
  }
  /// Every slice to the block that sums it. st.async counts its own bytes on
  /// that block's barrier: no fence and no barrier of the cluster.
  static DLC_DEVICE void exchange(const float (&d)[BY / 2], int group, int rank,
                                  uint32_t received, uint32_t bar) {
    cluster_wait(); // every block has started and armed its barrier
    DLC_UNROLL
    for (int to = 0; to < S; to++) {
      const uint32_t peer = peer_address(received, uint32_t(to)),
                     peerBar = peer_address(bar, uint32_t(to));
      DLC_UNROLL
      for (int j = 0; j < kSlice; j++) {
        if (to * kSlice + j >= kColumns)
          break;
        const auto v = Panel::fragment(d, to * kSlice + j);
        if (to == rank) // read back by this very thread
          sts(received + place(rank, group, j), v);
        else
          st_async(peer + place(rank, group, j), peerBar, v);
      }
    }
    if (rank * kSlice < kColumns)
      mbar_wait(bar, 0);
  }
  /// In the order of k.
  static DLC_DEVICE void sum(int group, int rank, uint32_t received,
                             uint32_t stage) {
    DLC_UNROLL
    for (int j = 0; j < kSlice; j++) {
      if (rank * kSlice + j >= kColumns)
        break;
      auto v = lds<Vec<float, 4>>(received + place(0, group, j));
      DLC_UNROLL
      for (int r = 1; r < S; r++) {
        const auto x = lds<Vec<float, 4>>(received + place(r, group, j));
        DLC_UNROLL
        for (int e = 0; e < 4; e++)
          v[e] += x[e];
      }
      Panel::stageColumn(v, j, stage);
    }
  }
};
} // namespace dlc::dev
