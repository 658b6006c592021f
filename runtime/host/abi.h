// SPDX-License-Identifier: Apache-2.0
// What a kernel compiled for the host and the emulator's engine agree on: the
// running thread, the block's view, and the table of the engine's functions.
//
// Kernels include it as "dlc/host/abi.h" and are parsed once per kernel, so it
// has no standard includes. A kernel's shared object exports
//   extern "C" void dlc_host_bind(const dlc::host::Engine *);
// (host/cuda.h defines it) and one `extern "C" void name(const void *params)`
// per kernel. The engine binds before the first launch.
#pragma once
typedef __INT8_TYPE__ int8_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __INT16_TYPE__ int16_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __SIZE_TYPE__ size_t;

namespace dlc::host {
/// Raised whenever anything below changes; the engine refuses other objects.
inline constexpr uint32_t kAbiVersion = 1;

struct Dim3 {
  uint32_t x, y, z;
};
struct Block;
struct Warp;
struct Worker;

/// What a kernel may look at of its thread; the engine keeps the rest behind.
struct Thread {
  Dim3 threadIdx;
  uint32_t lane, id, clusterPhase;
  bool check; // adversarial mode: bounds, delays, shuffled order
  Block *block;
  Warp *warp;
};
/// The first member of Block.
struct BlockView {
  uint8_t *smem;
  uint32_t smemBytes, rank, clusterSize, threads;
  Dim3 blockIdx, blockDim, gridDim;
  bool check;
};

/// Operand kinds of the tensor cores; F32 only in WarpTile (plain fma).
enum Kind : int { F16, BF16, TF32, S8, E4M3, F32 };

/// The last lane to arrive runs it for all, with their argument pointers.
using WarpOp = void (*)(void *const *lanes, uint32_t mask);

/// Arguments of one lane of ldmatrix and stmatrix.
struct Ldmatrix {
  uint32_t address, *out[4];
  int count;
  bool transpose;
};

/// D[16 mt][8 nt] += A B of one warp, straight from shared memory. Row r of A
/// begins at a + r * aRowBytes, its 16-byte chunk c lies at chunk c ^ x(r),
/// x(r) = r & 7 for rows of 128 bytes and more, (r >> 1) & 3 for 64, else 0.
/// The warp's rows begin at aRow, its columns at bRow. B is the same with
/// columns of D for rows, or, kMajor, has rows of k in which n is contiguous.
/// kBytes: bytes of operand along k. d: this lane's fragments (ptx/mma.cuh).
struct WarpTile {
  Kind kind;
  uint32_t a, b;
  int aRow, bRow, aRowBytes, bRowBytes, mt, nt, kBytes;
  bool kMajor;
  void *d;
};

/// The driver's opaque 128 bytes, transparent. Strides in bytes, of dimensions
/// 1 to 4; swizzle in bytes, 0 for none; channels and pixels: im2col only.
struct alignas(64) TensorMap {
  uint8_t *base;
  uint64_t stride[4];
  uint32_t dim[5];
  uint16_t box[5], channels, pixels;
  int16_t lower[3], upper[3];
  uint8_t elementStride[5], rank, elementBytes, swizzle, im2col;
};
static_assert(sizeof(TensorMap) == 128);

/// The engine as a kernel sees it. Shared addresses have 24 bits of offset and
/// the block's rank in its cluster above.
struct Engine {
  uint32_t abiVersion;
  /// Of `Thread *self` (thread-local) from the thread pointer.
  intptr_t selfOffset;
  void (*fail)(const char *format, ...) __attribute__((noreturn));
  void (*badShared)(uint32_t address, uint32_t bytes) __attribute__((noreturn));
  /// Fails unless the bytes lie in one of the launch's buffers.
  void (*checkGlobal)(const void *p, uint64_t bytes, bool write);
  uint8_t *(*remote)(uint32_t address);
  void (*noteWrite)(uint32_t address);
  void (*proxyFence)();
  void (*warpCollective)(uint32_t mask, WarpOp op, void *args);
  void (*barSync)(int id, int threads); // threads 0: all that still run
  void (*barArrive)(int id, int threads);
  void (*clusterArrive)();
  void (*clusterWait)();
  void (*yield)();
  void (*cpAsync)(uint32_t dst, const void *src, int bytes, int srcBytes);
  void (*cpCommit)();
  void (*cpWait)(int pending);
  WarpOp ldmatrix, stmatrix;
  /// D[16 mt][8 nt] += A B of one warp; k = 32 bytes of operand (ptx/mma.cuh).
  void (*mma)(Kind kind, int mt, int nt, void *d, const uint32_t *a,
              const uint32_t *b);
  void (*warpTile)(const WarpTile &tile);
  void (*mbarInit)(uint32_t bar, uint32_t count);
  void (*mbarArrive)(uint32_t bar, int arrivals, int tx);
  void (*mbarWait)(uint32_t bar, uint32_t parity);
  void (*tmaLoad)(uint32_t dst, const TensorMap *m, uint32_t bar,
                  const int (&c)[5], int ow, int oh, uint32_t ctas);
  void (*tmaStore)(const TensorMap *m, uint32_t src, const int (&c)[5]);
  void (*bulkLoad)(uint32_t dst, const void *src, uint32_t bytes, uint32_t bar);
  void (*stAsync)(uint32_t address, uint32_t bar, const void *v, int bytes);
  void (*wgmma)(Kind kind, int n, void *d, uint64_t da, const uint32_t *ra,
                uint64_t db, bool transA, bool transB, bool accumulate);
  void (*wgCommit)();
  void (*wgWait)(int pending);
};
} // namespace dlc::host
