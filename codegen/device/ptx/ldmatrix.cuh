// SPDX-License-Identifier: Apache-2.0
// Four 8x8 matrices of 16-bit elements (8 rows of 16 bytes each) from shared
// memory into fragments: lane i passes the address of row i % 8 of matrix
// i / 8 and receives elements 2 (i % 4), +1 of row i / 4 of each;
// ldmatrix4t: of the transposed matrices.
#pragma once
#include "dlc/ptx/shared.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
namespace twin {
DLC_DEVICE void ldmatrix(uint32_t a, uint32_t (&r)[4], bool transpose) {
  ::dlc::host::Ldmatrix m{a, {&r[0], &r[1], &r[2], &r[3]}, 4, transpose};
  ::dlc::host::engine->warpCollective(~0u, ::dlc::host::engine->ldmatrix, &m);
}
} // namespace twin
DLC_DEVICE void ldmatrix4(uint32_t a, uint32_t (&r)[4]) {
  twin::ldmatrix(a, r, false);
}
DLC_DEVICE void ldmatrix4t(uint32_t a, uint32_t (&r)[4]) {
  twin::ldmatrix(a, r, true);
}
#else
DLC_DEVICE void ldmatrix4(uint32_t a, uint32_t (&r)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(a)
               : "memory");
}
DLC_DEVICE void ldmatrix4t(uint32_t a, uint32_t (&r)[4]) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(a)
      : "memory");
}
#endif
} // namespace dlc::dev
