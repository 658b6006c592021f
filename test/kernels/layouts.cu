// SPDX-License-Identifier: Apache-2.0
// One mma.sync and one wgmma of any kind and layout, for LayoutTest. Host only:
// the kind is a run-time value. The fragment formulas are written a second time
// from the ISA's text, so that an error would have to be made twice.
#include "dlc/kernel.cuh"
#include "dlc/ptx/fence.cuh"
#include "dlc/ptx/shuffle.cuh"
#include "dlc/ptx/wgmma.cuh"
using namespace dlc::dev;
using dlc::host::Kind;

struct P { // a: [rows][k], b: [n][k]; mode: 0 no swizzle, 1 128 B, 2 64 B, 3 32 B
  Kind kind;
  int n, mode;
  bool regs, transA, transB;
  const uint8_t *a, *b;
  uint32_t *d;
};
static int bytesOf(Kind k) {
  return k == dlc::host::S8 || k == dlc::host::E4M3 ? 1
         : k == dlc::host::TF32                     ? 4
                                                    : 2;
}
// One warp: D[16][8] += A[16][k] B[8][k]^T, k = 32 bytes.
DLC_KERNEL(layout_mma, P, 32, 1, 0) {
  const int es = bytesOf(p.kind), K = 32 / es, per = 4 / es, l = lane_id();
  uint32_t a[4], b[2];
  for (int i = 0; i < 4; i++)
    memcpy(&a[i],
           p.a + ((l / 4 + 8 * (i % 2)) * K + l % 4 * per + i / 2 * (K / 2)) *
                     es,
           4);
  for (int i = 0; i < 2; i++)
    memcpy(&b[i], p.b + (l / 4 * K + l % 4 * per + i * (K / 2)) * es, 4);
  uint32_t d[4] = {};
  dlc::host::engine->mma(p.kind, 1, 1, d, a, b);
  for (int e = 0; e < 4; e++)
    p.d[(l / 4 + 8 * (e / 2)) * 8 + l % 4 * 2 + e % 2] = d[e];
}

// An operand into shared memory in its canonical layout.
static void put(uint32_t base, const P &p, const uint8_t *src, int rows,
                bool mn) {
  const int es = bytesOf(p.kind), K = 32 / es,
            w = p.mode == 0 ? 16 : 256 >> p.mode; // bytes of a swizzled row
  for (int i = int(threadIdx.x); i < rows * K; i += 128) {
    const int r = i / K, k = i % K;
    int a;
    if (!mn)
      a = p.mode ? r / 8 * 8 * w + r % 8 * w + k * es
                 : r / 8 * 256 + k * es / 16 * 128 + r % 8 * 16 + k * es % 16;
    else if (p.mode) // atoms of w / 2 elements along the rows
      a = r / (w / 2) * (16 * w) + k / 8 * (8 * w) + k % 8 * w +
          r % (w / 2) * 2;
    else
      a = r / 8 * 256 + k / 8 * 128 + k % 8 * 16 + r % 8 * 2;
    uint32_t at = base + uint32_t(a);
    if (p.mode)
      at ^= (at >> 7 & uint32_t(w / 16 - 1)) << 4;
    for (int e = 0; e < es; e++)
      sts<uint8_t>(at + uint32_t(e), src[i * es + e]);
  }
}
static uint64_t descriptor(uint32_t base, const P &p, bool mn) {
  const int w = p.mode == 0 ? 16 : 256 >> p.mode;
  int lbo = 0, sbo = 8 * w;
  if (p.mode == 0)
    lbo = 128, sbo = 256;
  else if (mn)
    lbo = 16 * w, sbo = 8 * w;
  return (base & 0x3FFFF) >> 4 | uint64_t(lbo >> 4) << 16 |
         uint64_t(sbo >> 4) << 32 | uint64_t(p.mode) << 62;
}
// One warpgroup: D[64][n] = A[64][k] B[n][k]^T.
DLC_KERNEL(layout_wgmma, P, 128, 1, 65536) {
  const uint32_t A = shared_address(smem), B = A + 16384;
  put(A, p, p.a, 64, p.transA);
  put(B, p, p.b, p.n, p.transB);
  fence_async_proxy();
  sync_block();
  const int t = int(threadIdx.x), l = t % 32, es = bytesOf(p.kind),
            K = 32 / es, per = 4 / es;
  uint32_t r[4];
  for (int i = 0; i < 4; i++)
    memcpy(&r[i],
           p.a + ((t / 32 * 16 + l / 4 + 8 * (i % 2)) * K + l % 4 * per +
                  i / 2 * (K / 2)) *
                     es,
           4);
  uint32_t d[128];
  dlc::host::engine->wgmma(p.kind, p.n, d, descriptor(A, p, p.transA),
                           p.regs ? r : nullptr, descriptor(B, p, p.transB),
                           p.transA, p.transB, false);
  wgmma_commit();
  wgmma_wait<0>();
  for (int j = 0; j < p.n / 8; j++)
    for (int e = 0; e < 4; e++)
      p.d[(t / 32 * 16 + l / 4 + e / 2 * 8) * p.n + j * 8 + l % 4 * 2 +
          e % 2] = d[j * 4 + e];
}
