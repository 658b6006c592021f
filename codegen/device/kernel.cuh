// SPDX-License-Identifier: Apache-2.0
// The entry point of an emitted kernel, the same text on both sides:
//
//   DLC_KERNEL(name, P, threads, minBlocks, smemBytes) { body }
//
// body sees `const P &p` and `uint8_t *smem` (dynamic shared memory, aligned
// to 1,024). smemBytes is for the reader and for the launcher: the launch
// passes the same number. Nothing in a body may return before a barrier that
// other threads of the block still reach.
//
//   thread_id(), block_threads()   in one dimension
//   grid_stride(n)                 see for_each_index
//   for_each_index<V, Index>(n, f) f(i) for i = 0, V, 2 V .. < n, shared out
//                                  over the grid (x), any grid size is correct
#pragma once
#include "dlc/memory.cuh"
#include "dlc/ptx/barrier.cuh"
#include "dlc/ptx/pdl.cuh"

#ifdef DLC_HOST
#define DLC_KERNEL(name, P, threads, minBlocks, smemBytes)                     \
  static DLC_DEVICE void name##_body(const P &p, uint8_t *smem);               \
  extern "C" __attribute__((visibility("default"))) void name(                 \
      const void *params) {                                                    \
    name##_body(*static_cast<const P *>(params),                               \
                ::dlc::host::view().smem);                                     \
  }                                                                            \
  static DLC_DEVICE void name##_body(const P &p, uint8_t *smem)
#else
#define DLC_KERNEL(name, P, threads, minBlocks, smemBytes)                     \
  static DLC_DEVICE void name##_body(const P &p, uint8_t *smem);               \
  extern "C" __global__ void __launch_bounds__(threads, minBlocks)             \
      name(const __grid_constant__ P p) {                                      \
    extern __shared__ __align__(1024) uint8_t dlc_smem[];                      \
    name##_body(p, dlc_smem);                                                  \
  }                                                                            \
  static DLC_DEVICE void name##_body(const P &p, uint8_t *smem)
#endif

namespace dlc::dev {
DLC_DEVICE int thread_id() { return int(threadIdx.x); }
DLC_DEVICE int block_threads() { return int(blockDim.x); }
template <int V, class Index, class F>
DLC_DEVICE void for_each_index(Index n, F f) {
  const Index step = Index(gridDim.x) * Index(blockDim.x) * V;
  for (Index i = (Index(blockIdx.x) * Index(blockDim.x) + threadIdx.x) * V;
       i < n; i += step)
    f(i);
}
} // namespace dlc::dev
