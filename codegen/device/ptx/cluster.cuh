// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks (sm_90 and up): cluster_rank(), cluster_arrive(),
// cluster_wait(), cluster_sync(), peer_address(a, rank) of a shared address in
// another block, lds_peer<T>(a) (T of 4 or 16 bytes).
#pragma once
#include "dlc/ptx/shared.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
DLC_DEVICE uint32_t cluster_rank() { return ::dlc::host::view().rank; }
DLC_DEVICE void cluster_arrive() { ::dlc::host::engine->clusterArrive(); }
DLC_DEVICE void cluster_wait() { ::dlc::host::engine->clusterWait(); }
DLC_DEVICE uint32_t peer_address(uint32_t a, uint32_t rank) {
  return (a & 0xFFFFFF) | rank << 24;
}
template <class T> DLC_DEVICE T lds_peer(uint32_t a) { return lds<T>(a); }
#elif __CUDA_ARCH__ >= 900
DLC_DEVICE uint32_t cluster_rank() {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
DLC_DEVICE void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
DLC_DEVICE void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
DLC_DEVICE uint32_t peer_address(uint32_t a, uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(r)
               : "r"(a), "r"(rank));
  return r;
}
template <class T> DLC_DEVICE T lds_peer(uint32_t a) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 16);
  if constexpr (sizeof(T) == 4) {
    uint32_t v;
    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                 : "=r"(v)
                 : "r"(a)
                 : "memory");
    return bits_as<T>(v);
  } else {
    uint4 v;
    asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(a)
                 : "memory");
    return bits_as<T>(v);
  }
}
#endif
#if defined(DLC_HOST) || __CUDA_ARCH__ >= 900
DLC_DEVICE void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}
#endif
} // namespace dlc::dev
