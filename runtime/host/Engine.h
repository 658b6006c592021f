/* SPDX-License-Identifier: Apache-2.0 */
/* libdlc_host: runs kernels that were compiled for the host, block by block,
 * on a SIMT emulator. A plain C interface, opened by dlopen.
 *
 * A kernel object is a shared object that exports dlc_host_bind and one entry
 * per kernel. After dlopen call dlc_host_bind(dlc_host_engine()) once; then
 * dlc_host_launch as often as wanted, from any thread (launches take turns).
 */
#ifndef DLC_RUNTIME_HOST_ENGINE_H
#define DLC_RUNTIME_HOST_ENGINE_H
#include <stddef.h>
#include <stdint.h>
#define DLC_HOST_API __attribute__((visibility("default")))
#ifdef __cplusplus
extern "C" {
#endif

typedef void (*dlc_host_entry)(const void *params);

/* Memory that a launch may touch. */
typedef struct dlc_host_buffer {
  const void *base;
  uint64_t bytes;
  int32_t writable;
  int32_t reserved;
} dlc_host_buffer;

typedef struct dlc_host_launch_config {
  uint32_t struct_bytes; /* sizeof(dlc_host_launch_config) */
  uint32_t grid[3], block[3];
  uint32_t cluster;    /* blocks of a cluster, along x; 0 and 1: none */
  uint32_t smem_bytes; /* dynamic shared memory of a block */
  uint32_t workers;    /* OS threads; 0: one per core */
  /* 0: fast. Other: adversarial, a schedule that follows from the seed: warps
   * and blocks in random order, copies as late as they may be, shared memory
   * poisoned, bounds checked. */
  uint64_t seed;
  /* Every global access of an adversarial launch must lie in one of them; not
   * checked when there are none. */
  const dlc_host_buffer *buffers;
  uint32_t buffer_count;
} dlc_host_launch_config;

/* Runs a grid to its end. 0, or 1 with a sentence in `error` (deadlock, access
 * outside a buffer, unfinished copy, bad configuration); memory that the
 * kernel wrote until then stays written. */
DLC_HOST_API int dlc_host_launch(dlc_host_entry entry, const void *params,
                                 const dlc_host_launch_config *config,
                                 char *error, size_t error_bytes);

/* What dlc_host_bind of a kernel object takes. */
DLC_HOST_API const struct dlc_host_engine_table *dlc_host_engine(void);

/* The host's form of a CUtensorMap (128 bytes, alignment 64) as
 * cuTensorMapEncodeTiled makes it: dims and box innermost first, strides in
 * bytes of dimensions 1 .. rank - 1, swizzle in bytes (0, 32, 64, 128). 0, or
 * 1 when the arguments are outside what the hardware takes. */
DLC_HOST_API int dlc_host_encode_tiled(void *map, const void *base,
                                       uint32_t element_bytes, uint32_t rank,
                                       const uint64_t *dims,
                                       const uint64_t *strides,
                                       const uint32_t *box, uint32_t swizzle);
/* As cuTensorMapEncodeIm2col, for rank 4 (C, W, H, N): corners and traversal
 * strides of W and H. */
DLC_HOST_API int
dlc_host_encode_im2col(void *map, const void *base, uint32_t element_bytes,
                       const uint64_t dims[4], const uint64_t strides[3],
                       const int32_t lower[2], const int32_t upper[2],
                       uint32_t channels, uint32_t pixels,
                       const uint32_t traversal[2], uint32_t swizzle);
#ifdef __cplusplus
}
#endif
#endif
