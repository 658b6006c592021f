// SPDX-License-Identifier: Apache-2.0
// Barriers of a block: sync_block(), sync_warp(), named ones with constant
// ids (a run-time id makes ptxas reserve all sixteen).
#pragma once
#include "dlc/types.cuh"

namespace dlc::dev {
DLC_DEVICE void sync_block() { __syncthreads(); }
DLC_DEVICE void sync_warp() { __syncwarp(); }
#ifdef DLC_HOST
template <int Id, int Threads> DLC_DEVICE void bar_sync() {
  ::dlc::host::engine->barSync(Id, Threads);
}
template <int Id, int Threads> DLC_DEVICE void bar_arrive() {
  ::dlc::host::engine->barArrive(Id, Threads);
}
#else
template <int Id, int Threads> DLC_DEVICE void bar_sync() {
  asm volatile("bar.sync %0, %1;" ::"n"(Id), "n"(Threads) : "memory");
}
template <int Id, int Threads> DLC_DEVICE void bar_arrive() {
  asm volatile("bar.arrive %0, %1;" ::"n"(Id), "n"(Threads) : "memory");
}
#endif
} // namespace dlc::dev
