// SPDX-License-Identifier: Apache-2.0
// The tensor memory accelerator (sm_90): tiles of 2 to 4 dimensions and im2col
// into shared memory (counted on an mbarrier), bulk copies, tile stores.
// Coordinates innermost first; _mc: into the same place of all blocks of the
// cluster in the mask.
#pragma once
#include "dlc/ptx/mbarrier.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
DLC_DEVICE void tma_prefetch_map(const CUtensorMap *) {}
DLC_DEVICE void tma_load2d(uint32_t to, const CUtensorMap *m, uint32_t bar,
                           int c0, int c1) {
  ::dlc::host::engine->tmaLoad(to, m, bar, {c0, c1}, 0, 0, 0);
}
DLC_DEVICE void tma_load2d_mc(uint32_t to, const CUtensorMap *m, uint32_t bar,
                              int c0, int c1, uint16_t ctas) {
  ::dlc::host::engine->tmaLoad(to, m, bar, {c0, c1}, 0, 0, ctas);
}
DLC_DEVICE void tma_load3d(uint32_t to, const CUtensorMap *m, uint32_t bar,
                           int c0, int c1, int c2) {
  ::dlc::host::engine->tmaLoad(to, m, bar, {c0, c1, c2}, 0, 0, 0);
}
DLC_DEVICE void tma_load3d_mc(uint32_t to, const CUtensorMap *m, uint32_t bar,
                              int c0, int c1, int c2, uint16_t ctas) {
  ::dlc::host::engine->tmaLoad(to, m, bar, {c0, c1, c2}, 0, 0, ctas);
}
DLC_DEVICE void tma_load4d(uint32_t to, const CUtensorMap *m, uint32_t bar,
                           int c0, int c1, int c2, int c3) {
  ::dlc::host::engine->tmaLoad(to, m, bar, {c0, c1, c2, c3}, 0, 0, 0);
}
DLC_DEVICE void tma_load4d_mc(uint32_t to, const CUtensorMap *m, uint32_t bar,
                              int c0, int c1, int c2, int c3, uint16_t ctas) {
  ::dlc::host::engine->tmaLoad(to, m, bar, {c0, c1, c2, c3}, 0, 0, ctas);
}
DLC_DEVICE void tma_load_im2col(uint32_t to, const CUtensorMap *m, uint32_t bar,
                                int c, int w, int h, int n, uint16_t ow,
                                uint16_t oh) {
  ::dlc::host::engine->tmaLoad(to, m, bar, {c, w, h, n}, ow, oh, 0);
}
DLC_DEVICE void tma_load_im2col_mc(uint32_t to, const CUtensorMap *m,
                                   uint32_t bar, int c, int w, int h, int n,
                                   uint16_t ow, uint16_t oh, uint16_t ctas) {
  ::dlc::host::engine->tmaLoad(to, m, bar, {c, w, h, n}, ow, oh, ctas);
}
/// Multiples of 16 bytes.
DLC_DEVICE void bulk_load(uint32_t to, const void *from, uint32_t bytes,
                          uint32_t bar) {
  ::dlc::host::engine->bulkLoad(to, from, bytes, bar);
}
DLC_DEVICE void tma_store2d(const CUtensorMap *m, uint32_t from, int c0,
                            int c1) {
  ::dlc::host::engine->tmaStore(m, from, {c0, c1});
}
DLC_DEVICE void bulk_commit() {}
template <int N> DLC_DEVICE void bulk_wait_read() {}
template <int N> DLC_DEVICE void bulk_wait() {}
#elif __CUDA_ARCH__ >= 900
DLC_DEVICE void tma_prefetch_map(const CUtensorMap *m) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(m) : "memory");
}
DLC_DEVICE void tma_load2d(uint32_t to, const CUtensorMap *m, uint32_t bar,
                           int c0, int c1) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%3,%4}], [%2];" ::"r"(to),
               "l"(m), "r"(bar), "r"(c0), "r"(c1)
               : "memory");
}
DLC_DEVICE void tma_load2d_mc(uint32_t to, const CUtensorMap *m, uint32_t bar,
                              int c0, int c1, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes.multicast::cluster [%0], [%1, {%3,%4}], [%2], %5;" ::"r"(to),
      "l"(m), "r"(bar), "r"(c0), "r"(c1), "h"(ctas)
      : "memory");
}
DLC_DEVICE void tma_load3d(uint32_t to, const CUtensorMap *m, uint32_t bar,
                           int c0, int c1, int c2) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%3,%4,%5}], [%2];" ::"r"(to),
               "l"(m), "r"(bar), "r"(c0), "r"(c1), "r"(c2)
               : "memory");
}
DLC_DEVICE void tma_load3d_mc(uint32_t to, const CUtensorMap *m, uint32_t bar,
                              int c0, int c1, int c2, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes.multicast::cluster [%0], [%1, {%3,%4,%5}], [%2], %6;" ::"r"(to),
      "l"(m), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "h"(ctas)
      : "memory");
}
DLC_DEVICE void tma_load4d(uint32_t to, const CUtensorMap *m, uint32_t bar,
                           int c0, int c1, int c2, int c3) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%3,%4,%5,%6}], [%2];" ::"r"(to),
               "l"(m), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}
DLC_DEVICE void tma_load4d_mc(uint32_t to, const CUtensorMap *m, uint32_t bar,
                              int c0, int c1, int c2, int c3, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes.multicast::cluster [%0], [%1, {%3,%4,%5,%6}], [%2], %7;" ::"r"(to),
      "l"(m), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "h"(ctas)
      : "memory");
}
DLC_DEVICE void tma_load_im2col(uint32_t to, const CUtensorMap *m, uint32_t bar,
                                int c, int w, int h, int n, uint16_t ow,
                                uint16_t oh) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::"
      "complete_tx::bytes [%0], [%1, {%3,%4,%5,%6}], [%2], {%7,%8};" ::"r"(to),
      "l"(m), "r"(bar), "r"(c), "r"(w), "r"(h), "r"(n), "h"(ow), "h"(oh)
      : "memory");
}
DLC_DEVICE void tma_load_im2col_mc(uint32_t to, const CUtensorMap *m,
                                   uint32_t bar, int c, int w, int h, int n,
                                   uint16_t ow, uint16_t oh, uint16_t ctas) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier:"
               ":complete_tx::bytes.multicast::cluster [%0], [%1, "
               "{%3,%4,%5,%6}], [%2], {%7,%8}, %9;" ::"r"(to),
               "l"(m), "r"(bar), "r"(c), "r"(w), "r"(h), "r"(n), "h"(ow),
               "h"(oh), "h"(ctas)
               : "memory");
}
DLC_DEVICE void bulk_load(uint32_t to, const void *from, uint32_t bytes,
                          uint32_t bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(bar)
               : "memory");
}
DLC_DEVICE void tma_store2d(const CUtensorMap *m, uint32_t from, int c0,
                            int c1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, "
               "{%2,%3}], [%1];" ::"l"(m),
               "r"(from), "r"(c0), "r"(c1)
               : "memory");
}
DLC_DEVICE void bulk_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int N> DLC_DEVICE void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
template <int N> DLC_DEVICE void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}
#endif
} // namespace dlc::dev
