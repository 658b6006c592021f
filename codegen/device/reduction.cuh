// SPDX-License-Identifier: Apache-2.0
// Reduction fusions: rows x reduced elements, in one or more passes (softmax
// has two: the maximum, then the sum of exponentials), then what is stored per
// element or per row.
//
//   struct Scalars { float h0, h1; };           // the heroes' results of a row
//   template <int K> struct Pass;
//   template <> struct Pass<0> {
//     struct Acc { float h0; };
//     static Acc init();
//     // adds elements r .. r + V - 1
//     template <int V> static void add(const P &, Index row, Index r,
//                                      const Scalars &s, Acc &acc);
//     static Acc combine(const Acc &a, const Acc &b);
//     static void finish(const Acc &acc, Scalars &s);
//   };
//   struct Body {
//     static constexpr int kPasses, kVector;    // kVector divides size(p)
//     static constexpr bool kStoresElements, kStoresRows;
//     static Index rows(const P &), size(const P &);
//     template <int V> static void store_elements(const P &, Index row,
//                                                 Index r, const Scalars &s);
//     static void store_row(const P &, Index row, const Scalars &s);
//   };
//
// A row is reduced by a thread, a warp, a block, or (where rows are contiguous
// in memory) by one lane of each warp of a block. Reductions of few long rows
// are split: reduce_parts (or reduce_column_parts, 32 rows at a time) leaves
// Acc per part, reduce_rest combines them. The order of additions depends on
// sizes only, never on timing.
#pragma once
#include "dlc/fusion.cuh"
#include "dlc/reduce.cuh"

namespace dlc::dev {
template <template <int> class Pass, class Body, class Scalars, class Index>
struct Reduction {
  static constexpr int V = Body::kVector;
  template <int K> struct Combine {
    using Acc = typename Pass<K>::Acc;
    static DLC_DEVICE Acc apply(const Acc &a, const Acc &b) {
      return Pass<K>::combine(a, b);
    }
  };

  /// A worker that is alone adds up short runs, then the sums of kFan of those,
  /// and so on: an element is rounded a few dozen times, however long the row,
  /// and a sum of 2^24 ones still counts.
  static constexpr Index kFan = 16;
  static constexpr int kLevels = 3;
  static constexpr Index run_size(int level) {
    return level == 0 ? kFan * V : kFan * run_size(level - 1);
  }

  /// Worker `id` of `count` takes its share of [begin, end) of a row.
  template <int K, class P>
  static DLC_DEVICE typename Pass<K>::Acc sweep(const P &p, Index row,
                                                Index begin, Index end, int id,
                                                int count, const Scalars &s) {
    if (count == 1)
      return alone<K, kLevels>(p, row, begin, end, s);
    return run<K>(p, row, begin + id * V, end, count * V, s);
  }
  template <int K, int Level, class P>
  static DLC_DEVICE typename Pass<K>::Acc alone(const P &p, Index row,
                                                Index begin, Index end,
                                                const Scalars &s) {
    if constexpr (Level == 0) {
      return run<K>(p, row, begin, end, V, s);
    } else {
      constexpr Index size = run_size(Level - 1);
      if (end - begin <= size)
        return alone<K, Level - 1>(p, row, begin, end, s);
      typename Pass<K>::Acc all = Pass<K>::init();
      for (; begin < end; begin += size)
        all = Pass<K>::combine(
            all, alone<K, Level - 1>(
                     p, row, begin, end - begin < size ? end : begin + size,
                     s));
      return all;
    }
  }
  template <int K, class P>
  static DLC_DEVICE typename Pass<K>::Acc run(const P &p, Index row,
                                              Index begin, Index end,
                                              Index step, const Scalars &s) {
    typename Pass<K>::Acc acc = Pass<K>::init();
    for (Index r = begin; r < end; r += step)
      Pass<K>::template add<V>(p, row, r, s, acc);
    return acc;
  }
  /// Runs the passes of one row; `share` makes the workers' sums one.
  template <int K, class P, class Share>
  static DLC_DEVICE void passes(const P &p, Index row, bool active, int id,
                                int count, Scalars &s, Share share) {
    if constexpr (K < Body::kPasses) {
      auto acc =
          sweep<K>(p, row, 0, active ? Body::size(p) : Index(0), id, count, s);
      acc = share(acc, Combine<K>());
      Pass<K>::finish(acc, s);
      passes<K + 1>(p, row, active, id, count, s, share);
    }
  }
  template <class P>
  static DLC_DEVICE void results(const P &p, Index row, int id, int count,
                                 const Scalars &s) {
    if constexpr (Body::kStoresElements) {
      const Index n = Body::size(p);
      for (Index r = id * V; r < n; r += count * V)
        Body::template store_elements<V>(p, row, r, s);
    }
    if constexpr (Body::kStoresRows)
      if (id == 0)
        Body::store_row(p, row, s);
  }

  template <class P> static DLC_DEVICE void by_thread(const P &p) {
    pdl_launch();
    pdl_wait();
    for_each_index<1, Index>(Body::rows(p), [&](Index row) {
      Scalars s{};
      passes<0>(p, row, true, 0, 1, s,
                [](const auto &acc, auto) { return acc; });
      results(p, row, 0, 1, s);
    });
  }
  template <class P> static DLC_DEVICE void by_warp(const P &p) {
    pdl_launch();
    pdl_wait();
    const Index rows = Body::rows(p);
    const int warps = block_threads() / 32, lane = thread_id() % 32;
    for (Index row = Index(blockIdx.x) * warps + thread_id() / 32; row < rows;
         row += Index(gridDim.x) * warps) {
      Scalars s{};
      passes<0>(p, row, true, lane, 32, s, [](const auto &acc, auto combine) {
        return warp_reduce<decltype(combine)>(acc);
      });
      results(p, row, lane, 32, s);
    }
  }
  template <class P>
  static DLC_DEVICE void by_block(const P &p, uint8_t *smem) {
    pdl_launch();
    pdl_wait();
    const Index rows = Body::rows(p);
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
      Scalars s{};
      passes<0>(p, row, true, thread_id(), block_threads(), s,
                [&](const auto &acc, auto combine) {
                  return block_reduce<decltype(combine)>(acc, smem);
                });
      results(p, row, thread_id(), block_threads(), s);
    }
  }
  /// 32 rows at a time, one per lane; the warps share the elements.
  template <class P>
  static DLC_DEVICE void by_column(const P &p, uint8_t *smem) {
    pdl_launch();
    pdl_wait();
    const Index rows = Body::rows(p);
    const int warps = block_threads() / 32, warp = thread_id() / 32,
              lane = thread_id() % 32;
    for (Index first = Index(blockIdx.x) * 32; first < rows;
         first += Index(gridDim.x) * 32) {
      const Index row = first + lane;
      const bool active = row < rows;
      Scalars s{};
      passes<0>(p, row, active, warp, warps, s,
                [&](const auto &acc, auto combine) {
                  return column_reduce<decltype(combine)>(acc, smem);
                });
      if (active)
        results(p, row, warp, warps, s);
    }
  }

  /// Part `blockIdx.x % parts` of a row; `work` gets rows * parts sums.
  template <class P, class Acc>
  static DLC_DEVICE void reduce_parts(const P &p, Acc *work, int parts,
                                      uint8_t *smem) {
    pdl_launch();
    pdl_wait();
    const Index row = Index(blockIdx.x) / parts, n = Body::size(p);
    const int part = int(blockIdx.x) % parts;
    const Index steps = (n / V + parts - 1) / parts;
    const Index begin = index_min<Index>(n, part * steps * V),
                end = index_min<Index>(n, begin + steps * V);
    Acc acc =
        sweep<0>(p, row, begin, end, thread_id(), block_threads(), Scalars{});
    acc = block_reduce<Combine<0>>(acc, smem);
    if (thread_id() == 0)
      st(work, blockIdx.x, acc);
  }
  /// The same for 32 rows, one per lane, of blocks that hold all their parts.
  template <class P, class Acc>
  static DLC_DEVICE void reduce_column_parts(const P &p, Acc *work, int parts,
                                             uint8_t *smem) {
    pdl_launch();
    pdl_wait();
    const Index row = Index(blockIdx.x) / parts * 32 + thread_id() % 32,
                n = Body::size(p);
    const int part = int(blockIdx.x) % parts;
    const Index steps = (n + parts - 1) / parts;
    const Index begin = index_min<Index>(n, part * steps),
                end = index_min<Index>(n, begin + steps);
    const bool active = row < Body::rows(p);
    Acc acc = sweep<0>(p, row, begin, active ? end : begin, thread_id() / 32,
                       block_threads() / 32, Scalars{});
    acc = column_reduce<Combine<0>>(acc, smem);
    if (active && thread_id() < 32)
      st(work, row * parts + part, acc);
  }
  template <class P, class Acc>
  static DLC_DEVICE void reduce_rest(const P &p, const Acc *work, int parts,
                                     uint8_t *smem) {
    pdl_launch();
    pdl_wait();
    const Index row = blockIdx.x;
    Acc acc = Pass<0>::init();
    for (int part = thread_id(); part < parts; part += block_threads())
      acc = Pass<0>::combine(acc, ld(work, row * parts + part));
    acc = block_reduce<Combine<0>>(acc, smem);
    Scalars s{};
    Pass<0>::finish(acc, s);
    if (thread_id() == 0)
      Body::store_row(p, row, s);
  }

private:
  template <class C, class Acc>
  static DLC_DEVICE Acc column_reduce(const Acc &acc, uint8_t *smem) {
    const int warps = block_threads() / 32, lane = thread_id() % 32;
    if (warps == 1)
      return acc;
    Acc *part = reinterpret_cast<Acc *>(smem);
    part[thread_id()] = acc;
    sync_block();
    Acc all = part[lane];
    for (int w = 1; w < warps; w++)
      all = C::apply(all, part[w * 32 + lane]);
    sync_block();
    return all;
  }
};
} // namespace dlc::dev
