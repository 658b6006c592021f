// SPDX-License-Identifier: Apache-2.0
// Kernels of HostKernelTest: one that is right, one that writes behind the end
// of its buffer, and some that name a block outside of their cluster.
#include "dlc/kernel.cuh"
#include "dlc/ptx/mbarrier.cuh"
using namespace dlc::dev;

struct ScaleP {
  void *buffer[3]; // x[n], w[4], y[n]
  const int64_t *cell[1];
  int64_t symbol[1]; // n
};

// y[i] = x[i] * w[i % 4] for i < min(n, *cell)
DLC_KERNEL(dlc_scale_f32_00000001, ScaleP, 64, 1, 0) {
  const float *x = static_cast<const float *>(p.buffer[0]);
  const float *w = static_cast<const float *>(p.buffer[1]);
  float *y = static_cast<float *>(p.buffer[2]);
  pdl_wait();
  const int64_t count = *p.cell[0];
  const int64_t n = count < p.symbol[0] ? count : p.symbol[0];
  for_each_index<1>(n, [&](int64_t i) {
    st(y, i, ld(x, i) * ld(w, i % 4));
  });
}

DLC_KERNEL(dlc_overrun_f32_00000002, ScaleP, 64, 1, 0) {
  const float *x = static_cast<const float *>(p.buffer[0]);
  float *y = static_cast<float *>(p.buffer[2]);
  for_each_index<1>(p.symbol[0] + 1, [&](int64_t i) {
    st(y, i, ld(x, i < p.symbol[0] ? i : 0));
  });
}

// Block 9 of a cluster that has one: a barrier at 0, 16 bytes at 16.
DLC_KERNEL(dlc_stray_f32_00000004, ScaleP, 64, 1, 64) {
  const uint32_t base = shared_address(smem);
  st_async(peer_address(base + 16, 9), base, Vec<float, 4>{});
}
DLC_KERNEL(dlc_stray_f32_00000005, ScaleP, 64, 1, 64) {
  const uint32_t base = shared_address(smem);
  st_async(base + 16, peer_address(base, 9), Vec<float, 4>{});
}
DLC_KERNEL(dlc_stray_f32_00000006, ScaleP, 64, 1, 64) {
  mbar_arrive_remote(shared_address(smem), 9);
}
DLC_KERNEL(dlc_stray_f32_00000007, ScaleP, 64, 1, 64) {
  sts<float>(peer_address(shared_address(smem), 9), 1);
}
