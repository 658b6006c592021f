// SPDX-License-Identifier: Apache-2.0
// The matrix product sums in the order of k, whatever its blocks and vectors:
// it equals the plain loop bit for bit.
#include "ir/reference/Gemm.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace dlc::reference;

template <class A> static void checkSize(int64_t m, int64_t n, int64_t k) {
  std::mt19937_64 random(uint64_t(m * 1000003 + n * 1009 + k));
  auto fill = [&](int64_t count) {
    std::vector<A> v(count);
    for (A &x : v)
      x = std::is_integral_v<A> ? A(random())
                                : A(double(int64_t(random())) * 1e-18);
    return v;
  };
  std::vector<A> left = fill(m * k), right = fill(k * n);
  std::vector<A> found(m * n, A(7)), expected(m * n, A(0));
  auto packLeft = [&](int64_t first, int64_t width, int64_t p0, int64_t depth,
                      int64_t stride, A *to) {
    for (int64_t r = 0; r < width; r++)
      for (int64_t p = 0; p < depth; p++)
        to[p * stride + r] = left[(first + r) * k + p0 + p];
  };
  auto packRight = [&](int64_t first, int64_t width, int64_t p0, int64_t depth,
                       int64_t stride, A *to) {
    for (int64_t r = 0; r < width; r++)
      for (int64_t p = 0; p < depth; p++)
        to[p * stride + r] = right[(p0 + p) * n + first + r];
  };
  gemm<A>(m, n, k, packLeft, packRight, found.data());
  for (int64_t i = 0; i < m; i++)
    for (int64_t p = 0; p < k; p++)
      for (int64_t j = 0; j < n; j++) {
        // Through memory, so that no compiler fuses it.
        volatile A product = left[i * k + p] * right[p * n + j];
        expected[i * n + j] += product;
      }
  EXPECT_EQ(found, expected) << m << " " << n << " " << k;
}

TEST(Gemm, EqualsThePlainLoop) {
  for (int64_t m : {0, 1, 5, 6, 13})
    for (int64_t n : {0, 1, 8, 17, 300})
      for (int64_t k : {0, 1, 7, 256, 515}) {
        checkSize<double>(m, n, k);
        checkSize<uint64_t>(m, n, k);
      }
}
