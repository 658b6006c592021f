// SPDX-License-Identifier: Apache-2.0
// Registers moved between warpgroups (sm_90a): all warps of a warpgroup ask
// for a new limit, a multiple of 8. The kernel needs a limit at entry, that is
// a minimum of blocks in its launch bounds.
#pragma once
#include "dlc/types.cuh"

namespace dlc::dev {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
template <int Count> DLC_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count> DLC_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
#elif defined(DLC_HOST)
template <int Count> DLC_DEVICE void take_registers() {}
template <int Count> DLC_DEVICE void give_registers() {}
#endif
} // namespace dlc::dev
