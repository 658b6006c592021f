// SPDX-License-Identifier: Apache-2.0
// Four 8x8 matrices of 16-bit elements (8 rows of 16 bytes each) from shared
// memory into fragments: lane i passes the address of row i % 8 of matrix
// i / 8 and receives elements 2 (i % 4), +1 of row i / 4 of each;
// ldmatrix4t: of the transposed matrices (ldmatrix2t: two of them). stmatrix4, stmatrix4t, stmatrix2t are
// the way back (sm_90).
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
DLC_DEVICE void ldmatrix2t(uint32_t a, uint32_t &r0, uint32_t &r1) {
  ::dlc::host::Ldmatrix m{a, {&r0, &r1}, 2, true};
  ::dlc::host::engine->warpCollective(~0u, ::dlc::host::engine->ldmatrix, &m);
}
namespace twin {
DLC_DEVICE void stmatrix(uint32_t a, uint32_t r0, uint32_t r1, uint32_t r2,
                         uint32_t r3, int count, bool transpose) {
  ::dlc::host::Ldmatrix m{a, {&r0, &r1, &r2, &r3}, count, transpose};
  ::dlc::host::engine->warpCollective(~0u, ::dlc::host::engine->stmatrix, &m);
}
} // namespace twin
DLC_DEVICE void stmatrix4(uint32_t a, uint32_t r0, uint32_t r1, uint32_t r2,
                          uint32_t r3) {
  twin::stmatrix(a, r0, r1, r2, r3, 4, false);
}
DLC_DEVICE void stmatrix4t(uint32_t a, uint32_t r0, uint32_t r1, uint32_t r2,
                           uint32_t r3) {
  twin::stmatrix(a, r0, r1, r2, r3, 4, true);
}
DLC_DEVICE void stmatrix2t(uint32_t a, uint32_t r0, uint32_t r1) {
  twin::stmatrix(a, r0, r1, r0, r1, 2, true);
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
DLC_DEVICE void ldmatrix2t(uint32_t a, uint32_t &r0, uint32_t &r1) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(r0), "=r"(r1)
               : "r"(a)
               : "memory");
}
#if __CUDA_ARCH__ >= 900
DLC_DEVICE void stmatrix4(uint32_t a, uint32_t r0, uint32_t r1, uint32_t r2,
                          uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], "
               "{%1,%2,%3,%4};" ::"r"(a),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}
DLC_DEVICE void stmatrix4t(uint32_t a, uint32_t r0, uint32_t r1, uint32_t r2,
                           uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], "
               "{%1,%2,%3,%4};" ::"r"(a),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}
DLC_DEVICE void stmatrix2t(uint32_t a, uint32_t r0, uint32_t r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], "
               "{%1,%2};" ::"r"(a),
               "r"(r0), "r"(r1)
               : "memory");
}
#endif
#endif
} // namespace dlc::dev
