// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch: pdl_wait() returns when the kernels before
// have stored everything; pdl_launch() lets the next one start its prologue.
// Nothing below sm_90 and on the host.
#pragma once
#include "dlc/types.cuh"

namespace dlc::dev {
#if !defined(DLC_HOST) && __CUDA_ARCH__ >= 900
DLC_DEVICE void pdl_wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
DLC_DEVICE void pdl_launch() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#else
DLC_DEVICE void pdl_wait() {}
DLC_DEVICE void pdl_launch() {}
#endif
} // namespace dlc::dev
