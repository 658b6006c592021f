// SPDX-License-Identifier: Apache-2.0
// The matrix product behind matmul and convolution.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>

namespace dlc::reference {

/// Rows of the left operand, columns of the right one, that are packed at once.
inline constexpr int kPanelM = 6, kPanelN = 8;

/// Writes elements of an operand: for each p in [p0, p0 + depth) and r in
/// [0, width): to[(p - p0) * stride + r] = element(first + r, p).
template <class A>
using Pack = llvm::function_ref<void(int64_t first, int64_t width, int64_t p0,
                                     int64_t depth, int64_t stride, A *to)>;

/// c[i * n + j] = sum over p of left(i, p) * right(j, p), for A double or
/// uint64_t (which wraps). Each sum is taken in the order of p, without fused
/// multiply-add, so that the result has the same bits on every machine,
/// whatever the width of its vectors. c is overwritten.
template <class A>
void gemm(int64_t m, int64_t n, int64_t k, Pack<A> left, Pack<A> right, A *c);

extern template void gemm<double>(int64_t, int64_t, int64_t, Pack<double>,
                                  Pack<double>, double *);
extern template void gemm<uint64_t>(int64_t, int64_t, int64_t, Pack<uint64_t>,
                                    Pack<uint64_t>, uint64_t *);

} // namespace dlc::reference
