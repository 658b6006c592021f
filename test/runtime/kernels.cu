// SPDX-License-Identifier: Apache-2.0
// Kernels of HostKernelTest: one that is right, and one that writes behind the
// end of its buffer.
#include "dlc/kernel.cuh"
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
