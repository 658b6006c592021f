// SPDX-License-Identifier: Apache-2.0
// The product of one warp, from shared memory: WarpTile<In, ...>::run(acc, ..).
//
// Shared tiles are rows of 16-byte chunks; chunk c of row r lies at chunk
// c ^ row_swizzle<RowBytes>(r), which makes both the copies and ldmatrix free
// of bank conflicts. A: rows of m, RowBytes of k. B: rows of n likewise, or
// with KMajor rows of k, RowBytes of n.
//
// Accumulators lie as mma.sync leaves them, with tensor cores and without:
// acc[i][j][e] of lane l is row 16 i + l / 4 + 8 (e / 2), column
// 8 j + 2 (l % 4) + e % 2.
#pragma once
#include "dlc/ptx/ldmatrix.cuh"
#include "dlc/ptx/mma.cuh"
#include "dlc/ptx/shuffle.cuh"

namespace dlc::dev {
template <int RowBytes> DLC_DEVICE uint32_t row_swizzle(int row) {
  return RowBytes >= 128  ? uint32_t(row & 7)
         : RowBytes == 64 ? uint32_t(row >> 1 & 3)
                          : 0u;
}
/// Where chunk c of row r lies from the tile's base.
template <int RowBytes> DLC_DEVICE uint32_t chunk_offset(int row, int chunk) {
  return uint32_t(row) * RowBytes +
         ((uint32_t(chunk) ^ row_swizzle<RowBytes>(row)) << 4);
}
/// Where element `at` of row r lies from the tile's base.
template <class In, int RowBytes>
DLC_DEVICE uint32_t element_offset(int row, int at) {
  constexpr int kPer = 16 / int(sizeof(In));
  return chunk_offset<RowBytes>(row, at / kPer) +
         uint32_t(at % kPer) * uint32_t(sizeof(In));
}

/// acc[16 MT][8 NT] += A[.][KBytes] B; a and b are the block's tiles, row0 and
/// column0 where the warp begins in them.
template <class In, class Acc, bool TensorCores, int MT, int NT, int KBytes,
          int RowBytesB, bool KMajor>
struct WarpTile {
  static constexpr int kPer = 16 / int(sizeof(In));

#ifdef DLC_HOST
  static constexpr bool kCoarse =
      TensorCores || (kSame<In, Acc> && kSame<In, float>);
  static constexpr ::dlc::host::Kind kind() {
    return TensorCores ? twin::mmaKind<In>() : ::dlc::host::F32;
  }
  static DLC_DEVICE void run(Acc (&acc)[MT][NT][4], uint32_t a, int row0,
                             uint32_t b, int column0) {
    if constexpr (kCoarse)
      ::dlc::host::engine->warpTile({kind(), a, b, row0, column0, KBytes,
                                     RowBytesB, MT, NT, KBytes, KMajor, acc});
    else
      plain(acc, a, row0, b, column0);
  }
#else
  static DLC_DEVICE void run(Acc (&acc)[MT][NT][4], uint32_t a, int row0,
                             uint32_t b, int column0) {
    if constexpr (TensorCores)
      tensor(acc, a, row0, b, column0);
    else
      plain(acc, a, row0, b, column0);
  }
  static DLC_DEVICE void tensor(Acc (&acc)[MT][NT][4], uint32_t a, int row0,
                                uint32_t b, int column0) {
    static_assert(NT % 2 == 0 || KMajor, "B is loaded two fragments at a time");
    const int l = lane_id(), r = l & 7, g = l >> 3;
    DLC_UNROLL
    for (int kk = 0; kk < KBytes / 32; kk++) {
      uint32_t fa[MT][4], fb[NT][2];
      DLC_UNROLL
      for (int i = 0; i < MT; i++)
        ldmatrix4(a + chunk_offset<KBytes>(row0 + 16 * i + (g & 1) * 8 + r,
                                           2 * kk + (g >> 1)),
                  fa[i]);
      load_b(fb, kk, b, column0);
      if constexpr (kSame<In, float>) {
        DLC_UNROLL
        for (int i = 0; i < MT; i++)
          DLC_UNROLL
        for (int e = 0; e < 4; e++)
          fa[i][e] = round_tf32(fa[i][e]);
        DLC_UNROLL
        for (int j = 0; j < NT; j++)
          DLC_UNROLL
        for (int e = 0; e < 2; e++)
          fb[j][e] = round_tf32(fb[j][e]);
      }
      mma_tile<In>(acc, fa, fb);
    }
  }
  static DLC_DEVICE void load_b(uint32_t (&fb)[NT][2], int kk, uint32_t b,
                                int column0) {
    const int l = lane_id(), r = l & 7, g = l >> 3;
    if constexpr (!KMajor || sizeof(In) == 2) {
      DLC_UNROLL
      for (int j = 0; j < NT; j += 2) {
        uint32_t q[4];
        if constexpr (KMajor)
          ldmatrix4t(b + chunk_offset<RowBytesB>(16 * kk + (g & 1) * 8 + r,
                                                 column0 / 8 + j + (g >> 1)),
                     q);
        else
          ldmatrix4(
              b + chunk_offset<RowBytesB>(column0 + 8 * j + (g >> 1) * 8 + r,
                                          2 * kk + (g & 1)),
              q);
        fb[j][0] = q[0];
        fb[j][1] = q[1];
        fb[j + 1][0] = q[2];
        fb[j + 1][1] = q[3];
      }
    } else {
      // 32- and 8-bit elements cannot be transposed by ldmatrix.
      constexpr int kWord = 4 / int(sizeof(In));
      DLC_UNROLL
      for (int j = 0; j < NT; j++)
        DLC_UNROLL
      for (int h = 0; h < 2; h++) {
        Vec<In, kWord> w;
        DLC_UNROLL
        for (int e = 0; e < kWord; e++)
          w[e] = lds<In>(b + element_offset<In, RowBytesB>(
                                 kk * 2 * kPer + h * kPer + l % 4 * kWord + e,
                                 column0 + 8 * j + l / 4));
        fb[j][h] = bits_as<uint32_t>(w);
      }
    }
  }
#endif
  /// Without tensor cores, for every type: 16-byte reads of k.
  static DLC_DEVICE void plain(Acc (&acc)[MT][NT][4], uint32_t a, int row0,
                               uint32_t b, int column0) {
    const int l = lane_id(), r = l / 4, c = l % 4 * 2;
    // A loop: unrolled, the loads of all its turns would live at once.
    DLC_NO_UNROLL
    for (int ck = 0; ck < KBytes / 16; ck++) {
      Vec<In, kPer> va[MT * 2];
      DLC_UNROLL
      for (int i = 0; i < MT * 2; i++)
        va[i] =
            lds<Vec<In, kPer>>(a + chunk_offset<KBytes>(row0 + 8 * i + r, ck));
      DLC_UNROLL
      for (int j = 0; j < NT * 2; j++) {
        const int column = column0 + j / 2 * 8 + c + j % 2;
        Vec<In, kPer> vb;
        if constexpr (!KMajor)
          vb = lds<Vec<In, kPer>>(b + chunk_offset<RowBytesB>(column, ck));
        DLC_UNROLL
        for (int k = 0; k < kPer; k++) {
          if constexpr (KMajor)
            vb[k] = lds<In>(
                b + element_offset<In, RowBytesB>(ck * kPer + k, column));
          DLC_UNROLL
          for (int i = 0; i < MT * 2; i++) {
            Acc &d = acc[i / 2][j / 2][i % 2 * 2 + j % 2];
            d = multiply_add(convert<Acc>(va[i][k]), convert<Acc>(vb[k]), d);
          }
        }
      }
    }
  }
  template <class T> static DLC_DEVICE T multiply_add(T x, T y, T z) {
    if constexpr (kSame<T, float>)
      return fmaf(x, y, z);
    else if constexpr (kSame<T, double>)
      return fma(x, y, z);
    else
      return T(x * y + z);
  }
};
} // namespace dlc::dev
