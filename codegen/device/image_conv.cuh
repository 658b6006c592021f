// SPDX-License-Identifier: Apache-2.0
// Convolutions of images: few input channels, a filter of some size, 16-bit
// elements. A block reads a band of its input once, from whatever layout and
// type, into shared memory, where the band itself is the product's operand;
// bias, activation and a max pool of the result follow in registers.
//
// The band is rows of 16-byte chunks: kPerChunk = 8 / kChannels neighbouring
// pixels of kChannels channels (1, 2, 4, 8; zeros behind the true ones). A row
// of the filter is taps of that width, two of them a step of 32 bytes of k.
// What tap j of output column q multiplies begins at input column q * stride +
// kPerChunk * j: the chunks of neighbouring q lie next to each other, those of
// one remainder by the stride after those of the other. So each step's operand
// is rows of 16 bytes that follow each other, for wgmma without swizzle and for
// ldmatrix without bank conflicts, and windows that overlap share memory.
//
// An emitted kernel:
//
//   #include "dlc/image_conv.cuh"
//   struct P { void *buffer[4]; int64_t symbol[1]; };
//   struct Problem {
//     using In = half_t;               // or bf16_t: operands
//     using Out = half_t;              // 16 bits: results
//     static DLC_DEVICE Index images(const P &p);
//     // The input's element; y and x lie inside.
//     static DLC_DEVICE In value(const P &p, Index n, Index c, Index y,
//                                Index x);
//     // What the host made of the filter, a constant: [tile of kBM
//     // outputs][Geometry::kSteps][2][kBM][8], zeros where nothing is. Steps:
//     // part, row of the filter, pair of taps.
//     static DLC_DEVICE const In *weights(const P &p);
//     // The result before pooling, of output channel o at (y, x).
//     static DLC_DEVICE Out result(const P &p, Index n, Index o, Index y,
//                                  Index x, float sum);
//     // [n][y][x][kOutputs], pooled.
//     static DLC_DEVICE Out *output(const P &p);
//   };
//   using Geometry = ImageConvGeometry<...>;
//   using Config = ImageConvConfig<...>;
//   DLC_KERNEL(dlc_conv_..., P, 128, 2, N) {
//     ImageConv<Problem, Geometry, Config>::run(p, blockIdx.x, smem);
//   }
//
// threads = 2 kBM; smem = ImageConvSmem<Geometry, Config>::kBytes; grid.x =
// images * tiles of rows * tiles of columns * tiles of outputs.
#pragma once
#include "dlc/kernel.cuh"
#include "dlc/ptx/cp_async.cuh"
#include "dlc/ptx/fence.cuh"
#include "dlc/ptx/ldmatrix.cuh"
#include "dlc/ptx/maximum.cuh"
#include "dlc/ptx/mma.cuh"
#include "dlc/ptx/shuffle.cuh"
#include "dlc/ptx/wgmma.cuh"

namespace dlc::dev {
/// Sizes of a dimension of input, filter, result, window and pooled result.
/// Without pooling the window is 1 wide, 1 apart.
template <int In_, int Filter_, int Stride_, int Low_, int Out_, int Window_,
          int Step_, int WindowLow_, int Pooled_>
struct ImageAxis {
  static constexpr int In = In_, Filter = Filter_, Stride = Stride_, Low = Low_,
                       Out = Out_, Window = Window_, Step = Step_,
                       WindowLow = WindowLow_, Pooled = Pooled_;
  // Of windows only the last row may belong to the next one, too.
  static constexpr bool kShares = Window == Step + 1;
  static_assert(Window == Step || kShares);
  /// Columns of the result that `n` pooled ones take.
  static constexpr int reach(int n) {
    const int most = (n - 1) * Step + Window;
    return most < Out ? most : Out;
  }
};

/// Channels is how many there are, Outputs of all groups of blocks; Parts > 1:
/// each weight is a sum.
template <class Y_, class X_, int Channels_, int Outputs_, int Parts_>
struct ImageConvGeometry {
  using Y = Y_;
  using X = X_;
  static constexpr int Channels = Channels_, Outputs = Outputs_, Parts = Parts_;
  static constexpr int kChannels = Channels <= 1   ? 1
                                   : Channels <= 2 ? 2
                                   : Channels <= 4 ? 4
                                                   : 8;
  static_assert(Channels <= 8);
  static constexpr int kPerChunk = 8 / kChannels;
  /// Pairs of taps of a row of the filter.
  static constexpr int kPairs =
      (X::Filter + 2 * kPerChunk - 1) / (2 * kPerChunk);
  static constexpr int kRowSteps = Y::Filter * kPairs;
  static constexpr int kSteps = Parts * kRowSteps;
};

/// BM outputs (16 for each warp), BN columns of the result, Rows of the pooled
/// result, Columns of it.
template <int BM_, int BN_, int Rows_, int Columns_, bool Wgmma_>
struct ImageConvConfig {
  static constexpr int BM = BM_, BN = BN_, Rows = Rows_, Columns = Columns_;
  static constexpr bool kWgmma = Wgmma_;
  static constexpr int kThreads = 2 * BM;
  static_assert(BM % 16 == 0 && (!kWgmma || BM == 64));
  static_assert(BN % 8 == 0 && BN <= 128);
};

template <class Geometry, class Config> struct ImageConvSmem {
  using Y = typename Geometry::Y;
  using X = typename Geometry::X;
  static constexpr int kTaps = 2 * Geometry::kPairs, kPer = Geometry::kPerChunk;
  /// Columns by their remainder by the stride: those that some tap begins at.
  static constexpr bool uses(int remainder) {
    for (int j = 0; j < kTaps; j++)
      if (kPer * j % X::Stride == remainder)
        return true;
    return false;
  }
  static constexpr int phase(int remainder) {
    int n = 0;
    for (int r = 0; r < remainder; r++)
      n += uses(r);
    return n;
  }
  /// The remainder that a phase has.
  static constexpr int remainder(int which) {
    for (int r = 0, n = 0; r < X::Stride; r++)
      if (uses(r) && n++ == which)
        return r;
    return 0;
  }
  static constexpr int kPhases = phase(X::Stride);
  static constexpr int kColumns =
      Config::BN + kPer * (kTaps - 1) / X::Stride; // of one phase
  /// Bytes from a row's begin to tap j of the first column.
  static constexpr int tap(int j) {
    return (phase(kPer * j % X::Stride) * kColumns + kPer * j / X::Stride) * 16;
  }
  static constexpr bool tapsRise() {
    for (int j = 0; j < kTaps; j += 2)
      if (tap(j + 1) <= tap(j))
        return false;
    return true;
  }
  static_assert(!Config::kWgmma || tapsRise());
  static constexpr int kRowBytes = kPhases * kColumns * 16;
  static constexpr int kRows =
      (Y::reach(Config::Rows) - 1) * Y::Stride + Y::Filter;
  // 16 more: rows of neighbouring columns fall into different banks.
  static constexpr int kPitch = Config::BM * 2 + 16;
  static constexpr int kWeights = Geometry::kSteps * Config::BM * 32,
                       kStaging = Config::BN * kPitch;
  /// Weights in registers, if there is room: their place is free then, for one
  /// more block on the multiprocessor.
  static constexpr bool kHeld = Config::kWgmma && Geometry::kSteps <= 16;
  static constexpr int kStagingAt = kHeld ? 0 : kWeights,
                       kBandAt = kHeld && kWeights > kStaging
                                     ? kWeights
                                     : kStagingAt + kStaging,
                       kBytes = kBandAt + kRows * kRowBytes;
};

template <class Problem, class Geometry, class Config> struct ImageConv {
  using In = typename Problem::In;
  using Out = typename Problem::Out;
  using Smem = ImageConvSmem<Geometry, Config>;
  using Y = typename Geometry::Y;
  using X = typename Geometry::X;
  static constexpr int BM = Config::BM, BN = Config::BN, NT = BN / 8,
                       kThreads = Config::kThreads,
                       kChannels = Geometry::kChannels,
                       kHeld = Smem::kHeld ? Geometry::kSteps : 1;
  static_assert(kIs16<In> && sizeof(Out) == 2);

  template <class P>
  static DLC_DEVICE void run(const P &p, uint32_t tile, uint8_t *smem) {
    using Index = decltype(Problem::images(p));
    constexpr int tilesM = (Geometry::Outputs + BM - 1) / BM,
                  tilesX = (X::Pooled + Config::Columns - 1) / Config::Columns,
                  tilesY = (Y::Pooled + Config::Rows - 1) / Config::Rows;
    int t = int(tile % uint32_t(tilesM * tilesX * tilesY));
    const auto image = Index(tile / uint32_t(tilesM * tilesX * tilesY));
    const int outputs0 = t % tilesM * BM;
    t /= tilesM;
    const int column0 = t % tilesX * Config::Columns,
              row0 = t / tilesX * Config::Rows;
    const int row1 = least(row0 + Config::Rows, Y::Pooled);
    // Where the results begin that are pooled, and the input for them.
    const int first = most(row0 * Y::Step - Y::WindowLow, 0),
              left = most(column0 * X::Step - X::WindowLow, 0);

    const uint32_t base = shared_address(smem);
    pdl_launch();
    for (int i = thread_id(); i < Smem::kWeights / 16; i += kThreads)
      cp_async<16>(base + uint32_t(i) * 16,
                   Problem::weights(p) +
                       int64_t(outputs0) * Geometry::kSteps * 16 + i * 8);
    cp_commit();
    pdl_wait();
    // Bounds are the plan's, so a tile past the images is one of a launch that
    // was sized by a bound.
    const bool exists = image < Problem::images(p);
    if (exists)
      fill(p, image, first * Y::Stride - Y::Low, left * X::Stride - X::Low,
           base + Smem::kBandAt);
    cp_wait<0>();
    if constexpr (Config::kWgmma)
      publish();
    sync_block();
    if (!exists)
      return;
    uint32_t held[kHeld][4];
    if constexpr (Smem::kHeld) {
      DLC_UNROLL
      for (int step = 0; step < kHeld; step++)
        ldmatrix4(fragment(base, step), held[step]);
      sync_block(); // results are staged where the weights were
    }

    uint32_t shared[NT][2];
    bool carried = false;
    for (int row = row0; row < row1; row++) {
      uint32_t largest[NT][2];
      int y = row * Y::Step - Y::WindowLow;
      const int end = least(y + Y::Window, Y::Out);
      y = most(y, 0);
      const bool taken = Y::kShares && carried && y < end;
      DLC_UNROLL
      for (int j = 0; j < NT; j++)
        DLC_UNROLL
      for (int h = 0; h < 2; h++)
        largest[j][h] = taken ? shared[j][h] : lowest2<Out>();
      for (y += taken; y < end; y++) {
        float sum[NT][4];
        products(sum, held, base,
                 base + Smem::kBandAt +
                     uint32_t((y - first) * Y::Stride * Smem::kRowBytes));
        finish(p, sum, shared, image, outputs0, y, left);
        DLC_UNROLL
        for (int j = 0; j < NT; j++)
          DLC_UNROLL
        for (int h = 0; h < 2; h++)
          largest[j][h] = maximum2<Out>(largest[j][h], shared[j][h]);
      }
      // The row that ends this window begins the next.
      carried = end == row * Y::Step - Y::WindowLow + Y::Window;
      stage(largest, base + Smem::kStagingAt);
      sync_block();
      store(p, base + Smem::kStagingAt, image, outputs0, row, column0, left);
      sync_block();
    }
  }

private:
  static DLC_DEVICE int least(int a, int b) { return a < b ? a : b; }
  static DLC_DEVICE int most(int a, int b) { return a < b ? b : a; }

  /// The band that begins at (y0, x0), zeros outside of the image.
  template <class P, class Index>
  static DLC_DEVICE void fill(const P &p, Index image, int y0, int x0,
                              uint32_t band) {
    constexpr int kChunks = Smem::kPhases * Smem::kColumns,
                  kAll = Smem::kRows * kChunks;
    // Loads of some chunks are in flight together.
    constexpr int kTogether = Geometry::Channels <= 2 ? 2 : 4;
    for (int i0 = thread_id(); i0 < kAll; i0 += kTogether * kThreads) {
      Vec<In, 8> v[kTogether];
      DLC_UNROLL
      for (int u = 0; u < kTogether; u++) {
        const int i = i0 + u * kThreads;
        const int r = i / kChunks, at = i % kChunks;
        const int y = y0 + r, x = x0 + column(at);
        const bool in = i < kAll && y >= 0 && y < Y::In;
        DLC_UNROLL
        for (int e = 0; e < 8; e++) {
          const int c = e % kChannels, xe = x + e / kChannels;
          v[u][e] = In{};
          if (c < Geometry::Channels)
            if (in && xe >= 0 && xe < X::In)
              v[u][e] = Problem::value(p, image, Index(c), Index(y), Index(xe));
        }
      }
      DLC_UNROLL
      for (int u = 0; u < kTogether; u++)
        if (const int i = i0 + u * kThreads; i < kAll)
          sts(band + uint32_t(i) * 16, v[u]);
    }
  }
  /// The input's column that chunk `at` of a row begins with.
  static DLC_DEVICE int column(int at) {
    if constexpr (Smem::kPhases == 1)
      return at * X::Stride;
    else {
      const int which = at / Smem::kColumns;
      int begin = Smem::remainder(0);
      DLC_UNROLL
      for (int q = 1; q < Smem::kPhases; q++)
        begin = which == q ? Smem::remainder(q) : begin;
      return at % Smem::kColumns * X::Stride + begin;
    }
  }

  /// A row of the result: sum[j][e] is of output 16 warp + lane / 4 + 8 (e /
  /// 2), column 8 j + 2 (lane % 4) + e % 2.
  static DLC_DEVICE void products(float (&sum)[NT][4],
                                  const uint32_t (&held)[kHeld][4],
                                  uint32_t weights, uint32_t band) {
    if constexpr (Config::kWgmma)
      ofWarpgroup(sum, held, weights, band);
    else
      ofWarp(sum, weights, band);
  }
  static DLC_DEVICE void ofWarp(float (&sum)[NT][4], uint32_t weights,
                                uint32_t band) {
    const int lane = lane_id(), r8 = lane & 7, g = lane >> 3;
    DLC_UNROLL
    for (int j = 0; j < NT; j++)
      DLC_UNROLL
    for (int e = 0; e < 4; e++)
      sum[j][e] = 0;
    for (int part = 0; part < Geometry::Parts; part++)
      for (int r = 0; r < Y::Filter; r++)
        DLC_UNROLL
    for (int pair = 0; pair < Geometry::kPairs; pair++) {
      uint32_t a[1][4], b[NT][2];
      ldmatrix4(fragment(weights, step(part, r, pair)), a[0]);
      const uint32_t taps = band + uint32_t(r * Smem::kRowBytes + r8 * 16 +
                                            (g & 1 ? Smem::tap(2 * pair + 1)
                                                   : Smem::tap(2 * pair)));
      DLC_UNROLL
      for (int j = 0; j < NT; j += 2) {
        uint32_t q[4];
        // Of an odd number of column groups the last is read twice.
        ldmatrix4(taps + uint32_t((j + 1 < NT ? j + (g >> 1) : j) * 128), q);
        b[j][0] = q[0];
        b[j][1] = q[1];
        if (j + 1 < NT) {
          b[j + 1][0] = q[2];
          b[j + 1][1] = q[3];
        }
      }
      mma_tile<In>(reinterpret_cast<float(&)[1][NT][4]>(sum), a, b);
    }
  }
  /// What this lane asks ldmatrix for to get the warp's weights of a step.
  static DLC_DEVICE uint32_t fragment(uint32_t weights, int step) {
    const int lane = lane_id(), g = lane >> 3;
    return weights + uint32_t(((step * 2 + (g >> 1)) * BM + warp_id() * 16 +
                               (g & 1) * 8 + (lane & 7)) *
                              16);
  }
  static DLC_DEVICE int step(int part, int r, int pair) {
    return part * Geometry::kRowSteps + r * Geometry::kPairs + pair;
  }
#if defined(DLC_HOST) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  static DLC_DEVICE void ofWarpgroup(float (&sum)[NT][4],
                                     const uint32_t (&held)[kHeld][4],
                                     uint32_t weights, uint32_t band) {
    float(&d)[NT * 4] = reinterpret_cast<float(&)[NT * 4]>(sum);
    constexpr int kHalf = BM * 16;
    wgmma_fence();
    DLC_UNROLL
    for (int part = 0; part < Geometry::Parts; part++)
      DLC_UNROLL
    for (int r = 0; r < Y::Filter; r++)
      DLC_UNROLL
    for (int pair = 0; pair < Geometry::kPairs; pair++) {
      const int at = step(part, r, pair);
      const uint64_t taps = descriptor_plain(
          band + uint32_t(r * Smem::kRowBytes + Smem::tap(2 * pair)),
          uint32_t(Smem::tap(2 * pair + 1) - Smem::tap(2 * pair)), 128);
      if constexpr (Smem::kHeld)
        Wgmma<In, BN>::template rs<0>(d, held[at], taps, at != 0);
      else
        Wgmma<In, BN>::ss(
            d, descriptor_plain(weights + uint32_t(at * 2 * kHalf), kHalf, 128),
            taps, at != 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_hold(d);
  }
  static DLC_DEVICE void publish() { fence_async_proxy(); }
#else
  // Named by discarded statements.
  static DLC_DEVICE void ofWarpgroup(float (&)[NT][4],
                                     const uint32_t (&)[kHeld][4], uint32_t,
                                     uint32_t) {}
  static DLC_DEVICE void publish() {}
#endif

  /// Sums to results: two neighbouring columns in a register.
  template <class P, class Index>
  static DLC_DEVICE void finish(const P &p, const float (&sum)[NT][4],
                                uint32_t (&packed)[NT][2], Index image,
                                int outputs0, int y, int left) {
    const int lane = lane_id();
    DLC_UNROLL
    for (int h = 0; h < 2; h++) {
      int o = outputs0 + warp_id() * 16 + lane / 4 + 8 * h;
      // What does not exist is not stored, but may be read.
      if (Geometry::Outputs % BM)
        o = least(o, Geometry::Outputs - 1);
      DLC_UNROLL
      for (int j = 0; j < NT; j++) {
        Out two[2];
        DLC_UNROLL
        for (int e = 0; e < 2; e++) {
          const int x = least(left + 8 * j + lane % 4 * 2 + e, X::Out - 1);
          two[e] = Problem::result(p, image, Index(o), Index(y), Index(x),
                                   sum[j][2 * h + e]);
        }
        packed[j][h] = two[0].bits | uint32_t(two[1].bits) << 16;
      }
    }
  }

  /// Into shared memory as [column][output].
  static DLC_DEVICE void stage(const uint32_t (&v)[NT][2], uint32_t to) {
    const int lane = lane_id(), row = warp_id() * 16;
#if defined(DLC_HOST) || __CUDA_ARCH__ >= 900
    const int r8 = lane & 7, g = lane >> 3;
    DLC_UNROLL
    for (int j = 0; j + 1 < NT; j += 2)
      stmatrix4t(to + uint32_t((8 * (j + (g >> 1)) + r8) * Smem::kPitch +
                               (row + (g & 1) * 8) * 2),
                 v[j][0], v[j][1], v[j + 1][0], v[j + 1][1]);
    if constexpr (NT % 2)
      stmatrix2t(to + uint32_t((8 * (NT - 1) + r8) * Smem::kPitch +
                               (row + (g & 1) * 8) * 2),
                 v[NT - 1][0], v[NT - 1][1]);
#else
    DLC_UNROLL
    for (int j = 0; j < NT; j++)
      DLC_UNROLL
    for (int h = 0; h < 2; h++)
      DLC_UNROLL
    for (int e = 0; e < 2; e++)
      sts(to + uint32_t((8 * j + lane % 4 * 2 + e) * Smem::kPitch +
                        (row + lane / 4 + 8 * h) * 2),
          uint16_t(v[j][h] >> 16 * e));
#endif
  }

  /// The largest of each window's columns, 8 outputs at a time.
  template <class P, class Index>
  static DLC_DEVICE void store(const P &p, uint32_t from, Index image,
                               int outputs0, int row, int column0, int left) {
    constexpr int kVectors = BM / 8;
    static_assert(Geometry::Outputs % 8 == 0);
    const int columns = least(Config::Columns, X::Pooled - column0);
    for (int i = thread_id(); i < columns * kVectors; i += kThreads) {
      const int o = i % kVectors * 8, column = column0 + i / kVectors;
      if (Geometry::Outputs % BM && outputs0 + o >= Geometry::Outputs)
        continue;
      const int x = column * X::Step - X::WindowLow;
      Vec<uint32_t, 4> v;
      DLC_UNROLL
      for (int e = 0; e < 4; e++)
        v[e] = lowest2<Out>();
      DLC_UNROLL
      for (int s = 0; s < X::Window; s++)
        if (x + s >= 0 && x + s < X::Out) {
          const auto w = lds<Vec<uint32_t, 4>>(
              from + uint32_t((x + s - left) * Smem::kPitch + o * 2));
          DLC_UNROLL
          for (int e = 0; e < 4; e++)
            v[e] = X::Window == 1 ? w[e] : maximum2<Out>(v[e], w[e]);
        }
      const Index at =
          ((image * Y::Pooled + row) * X::Pooled + column) * Geometry::Outputs +
          outputs0 + o;
      stv<8>(Problem::output(p), at, bits_as<Vec<Out, 8>>(v));
    }
  }
};
} // namespace dlc::dev
