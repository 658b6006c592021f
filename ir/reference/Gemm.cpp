// SPDX-License-Identifier: Apache-2.0
// A blocked matrix product with a fixed order of summation.
#include "ir/reference/Gemm.h"

#include <algorithm>
#include <vector>

namespace dlc::reference {

namespace {

constexpr int64_t kBlockN = 256, kBlockK = 256;

template <class A> struct VectorOf;
template <> struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(kPanelN * sizeof(double))));
};
template <> struct VectorOf<uint64_t> {
  typedef uint64_t Type
      __attribute__((vector_size(kPanelN * sizeof(uint64_t))));
};

/// c[r][0..kPanelN) += left[p][r] * right[p][..], p = 0, 1, ... in turn.
template <class A>
__attribute__((always_inline)) inline void
tileBody(int64_t depth, const A *left, const A *right, A *c) {
  using V = typename VectorOf<A>::Type;
  V sums[kPanelM];
#pragma GCC unroll 6
  for (int r = 0; r < kPanelM; r++)
    __builtin_memcpy(&sums[r], c + r * kPanelN, sizeof(V));
  for (int64_t p = 0; p < depth; p++) {
    V row;
    __builtin_memcpy(&row, right + p * kPanelN, sizeof(V));
#pragma GCC unroll 6
    for (int r = 0; r < kPanelM; r++)
      sums[r] += left[p * kPanelM + r] * row;
  }
#pragma GCC unroll 6
  for (int r = 0; r < kPanelM; r++)
    __builtin_memcpy(c + r * kPanelN, &sums[r], sizeof(V));
}

template <class A>
using Tile = void (*)(int64_t depth, const A *left, const A *right, A *c);

template <class A>
void tilePlain(int64_t depth, const A *left, const A *right, A *c) {
  tileBody(depth, left, right, c);
}
#if defined(__x86_64__)
template <class A>
__attribute__((target("avx2"))) void tileAvx2(int64_t depth, const A *left,
                                              const A *right, A *c) {
  tileBody(depth, left, right, c);
}
template <class A>
__attribute__((target("avx512f,avx512dq"))) void
tileAvx512(int64_t depth, const A *left, const A *right, A *c) {
  tileBody(depth, left, right, c);
}
#endif

/// Wider vectors compute more columns at a time, each in the same order.
template <class A> Tile<A> chooseTile() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return tileAvx512<A>;
  if (__builtin_cpu_supports("avx2"))
    return tileAvx2<A>;
#endif
  return tilePlain<A>;
}

} // namespace

template <class A>
void gemm(int64_t m, int64_t n, int64_t k, Pack<A> left, Pack<A> right, A *c) {
  static const Tile<A> tile = chooseTile<A>();
  std::fill(c, c + m * n, A(0));
  std::vector<A> rightBlock(kBlockN * kBlockK), leftBlock(kPanelM * kBlockK);
  A sums[kPanelM * kPanelN];
  for (int64_t j0 = 0; j0 < n; j0 += kBlockN) {
    int64_t columns = std::min(kBlockN, n - j0);
    int64_t panels = (columns + kPanelN - 1) / kPanelN;
    for (int64_t p0 = 0; p0 < k; p0 += kBlockK) {
      int64_t depth = std::min(kBlockK, k - p0);
      std::fill(rightBlock.begin(), rightBlock.end(), A(0));
      for (int64_t q = 0; q < panels; q++)
        right(j0 + q * kPanelN,
              std::min<int64_t>(kPanelN, columns - q * kPanelN), p0, depth,
              kPanelN, rightBlock.data() + q * kPanelN * depth);
      for (int64_t i = 0; i < m; i += kPanelM) {
        int64_t rows = std::min<int64_t>(kPanelM, m - i);
        if (rows < kPanelM)
          std::fill(leftBlock.begin(), leftBlock.end(), A(0));
        left(i, rows, p0, depth, kPanelM, leftBlock.data());
        for (int64_t q = 0; q < panels; q++) {
          int64_t j = j0 + q * kPanelN;
          int64_t width = std::min<int64_t>(kPanelN, n - j);
          std::fill(sums, sums + kPanelM * kPanelN, A(0));
          for (int64_t r = 0; r < rows; r++)
            std::copy_n(c + (i + r) * n + j, width, sums + r * kPanelN);
          tile(depth, leftBlock.data(), rightBlock.data() + q * kPanelN * depth,
               sums);
          for (int64_t r = 0; r < rows; r++)
            std::copy_n(sums + r * kPanelN, width, c + (i + r) * n + j);
        }
      }
    }
  }
}

template void gemm<double>(int64_t, int64_t, int64_t, Pack<double>,
                           Pack<double>, double *);
template void gemm<uint64_t>(int64_t, int64_t, int64_t, Pack<uint64_t>,
                             Pack<uint64_t>, uint64_t *);

} // namespace dlc::reference
