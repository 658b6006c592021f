// SPDX-License-Identifier: Apache-2.0
// Operands of a contraction into shared memory, in 16-byte chunks swizzled as
// warp_tile.cuh reads them. A loader has now() (issue and, for elements, also
// store), or begin() before and end() after a step's products: vectors are
// copied asynchronously by begin(); elements are fetched into registers by
// begin() and stored by end().
#pragma once
#include "dlc/ptx/cp_async.cuh"
#include "dlc/warp_tile.cuh"

namespace dlc::dev {
/// Rows fixed for the block, chunks along k.
template <class Problem, class Row, int Rows, int BK, int Vector, int Threads>
struct RowLoader {
  using In = typename Problem::In;
  static constexpr int kRowBytes = BK * int(sizeof(In));
  static constexpr int kPer = 16 / int(sizeof(In));
  static constexpr int kChunks = kRowBytes / 16;
  static constexpr int kStep = Threads / kChunks; // rows from one to the next
  static constexpr int kCount = (Rows + kStep - 1) / kStep;
  static_assert(Threads % kChunks == 0);
  static_assert(Vector == 1 || (Vector * sizeof(In) >= 4 && Vector <= kPer));

  union Slot {
    Row row;
    DLC_DEVICE Slot() {}
  };
  Slot slot[kCount];
  uint32_t inside = 0; // bit i: row i exists
  Vec<In, kPer> held[Vector == 1 ? kCount : 1];

  static DLC_DEVICE int row(int i) {
    return thread_index() / kChunks + i * kStep;
  }
  static DLC_DEVICE int chunk() { return thread_index() % kChunks; }
  static DLC_DEVICE int thread_index() { return int(threadIdx.x); }

  template <class P, class Index>
  DLC_DEVICE RowLoader(const P &p, Index b, Index row0, Index rows) {
    static_assert(kCount <= 32);
    DLC_UNROLL
    for (int i = 0; i < kCount; i++) {
      const Index r = row0 + row(i);
      const bool in = r < rows && row(i) < Rows;
      inside |= uint32_t(in) << i;
      slot[i].row = Row(p, b, in ? r : Index(0));
    }
  }
  template <class P, class Index>
  DLC_DEVICE void begin(const P &p, Index k0, uint32_t tile) {
    const Index K = Problem::k(p), k = k0 + chunk() * kPer;
    DLC_UNROLL
    for (int i = 0; i < kCount; i++) {
      if (Rows % kStep && row(i) >= Rows)
        break;
      const bool in = inside >> i & 1;
      if constexpr (Vector == 1) {
        DLC_UNROLL
        for (int e = 0; e < kPer; e++)
          held[i][e] =
              in && k + e < K ? Problem::value(p, slot[i].row, k + e) : In{};
      } else {
        const uint32_t to = tile + chunk_offset<kRowBytes>(row(i), chunk());
        DLC_UNROLL
        for (int e = 0; e < kPer; e += Vector) {
          const In *from = nullptr;
          if (in && k + e < K)
            from = Problem::address(p, slot[i].row, k + e);
          cp_async<Vector *int(sizeof(In))>(
              to + uint32_t(e) * uint32_t(sizeof(In)), from);
        }
      }
    }
  }
  DLC_DEVICE void end(uint32_t tile) {
    if constexpr (Vector == 1) {
      DLC_UNROLL
      for (int i = 0; i < kCount; i++) {
        if (Rows % kStep && row(i) >= Rows)
          break;
        sts(tile + chunk_offset<kRowBytes>(row(i), chunk()), held[i]);
      }
    }
  }
  template <class P, class Index>
  DLC_DEVICE void now(const P &p, Index k0, uint32_t tile) {
    begin(p, k0, tile);
    end(tile);
  }
};

/// Rows are k and change with every step, chunks along n.
template <class Problem, int BN, int BK, int Vector, int Threads>
struct KMajorLoader {
  using In = typename Problem::In;
  using Row = typename Problem::RowB;
  static constexpr int kRowBytes = BN * int(sizeof(In));
  static constexpr int kPer = 16 / int(sizeof(In));
  static constexpr int kChunks = kRowBytes / 16;
  static constexpr int kTotal = kChunks * BK;
  static constexpr int kCount = (kTotal + Threads - 1) / Threads;

  int64_t batch, column0, columns;
  Vec<In, kPer> held[Vector == 1 ? kCount : 1];

  template <class P, class Index>
  DLC_DEVICE KMajorLoader(const P &, Index b, Index n0, Index n)
      : batch(b), column0(n0), columns(n) {}
  template <class P, class Index>
  DLC_DEVICE void begin(const P &p, Index k0, uint32_t tile) {
    const Index K = Problem::k(p), N = Index(columns);
    DLC_UNROLL
    for (int i = 0; i < kCount; i++) {
      const int at = int(threadIdx.x) + i * Threads;
      if (kTotal % Threads && at >= kTotal)
        break;
      const int r = at / kChunks, c = at % kChunks;
      const Index k = k0 + r, n = Index(column0) + c * kPer;
      const bool in = k < K;
      const Row row(p, Index(batch), in ? k : Index(0));
      if constexpr (Vector == 1) {
        DLC_UNROLL
        for (int e = 0; e < kPer; e++)
          held[i][e] = in && n + e < N ? Problem::value(p, row, n + e) : In{};
      } else {
        const uint32_t to = tile + chunk_offset<kRowBytes>(r, c);
        DLC_UNROLL
        for (int e = 0; e < kPer; e += Vector) {
          const In *from = nullptr;
          if (in && n + e < N)
            from = Problem::address(p, row, n + e);
          cp_async<Vector *int(sizeof(In))>(
              to + uint32_t(e) * uint32_t(sizeof(In)), from);
        }
      }
    }
  }
  DLC_DEVICE void end(uint32_t tile) {
    if constexpr (Vector == 1) {
      DLC_UNROLL
      for (int i = 0; i < kCount; i++) {
        const int at = int(threadIdx.x) + i * Threads;
        if (kTotal % Threads && at >= kTotal)
          break;
        sts(tile + chunk_offset<kRowBytes>(at / kChunks, at % kChunks),
            held[i]);
      }
    }
  }
  template <class P, class Index>
  DLC_DEVICE void now(const P &p, Index k0, uint32_t tile) {
    begin(p, k0, tile);
    end(tile);
  }
};

template <class Problem, int BN, int BK, int Threads,
          bool Transposed = Problem::kTransposedB>
struct LoaderB : RowLoader<Problem, typename Problem::RowB, BN, BK,
                           Problem::kVectorB, Threads> {
  using RowLoader<Problem, typename Problem::RowB, BN, BK, Problem::kVectorB,
                  Threads>::RowLoader;
};
template <class Problem, int BN, int BK, int Threads>
struct LoaderB<Problem, BN, BK, Threads, true>
    : KMajorLoader<Problem, BN, BK, Problem::kVectorB, Threads> {
  using KMajorLoader<Problem, BN, BK, Problem::kVectorB, Threads>::KMajorLoader;
};
} // namespace dlc::dev
