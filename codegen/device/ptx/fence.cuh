// SPDX-License-Identifier: Apache-2.0
// Fences between proxies (sm_90): fence_async_proxy() makes a thread's ordinary
// and cp.async writes to shared memory visible to TMA and wgmma (before the
// barrier, by every writer); fence_barrier_init() publishes new mbarriers.
#pragma once
#include "dlc/types.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
DLC_DEVICE void fence_async_proxy() {
  if (::dlc::host::checked())
    ::dlc::host::engine->proxyFence();
}
DLC_DEVICE void fence_barrier_init() {}
#elif __CUDA_ARCH__ >= 900
DLC_DEVICE void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
DLC_DEVICE void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
#endif
} // namespace dlc::dev
