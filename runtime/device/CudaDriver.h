// SPDX-License-Identifier: Apache-2.0
// The CUDA driver's interface, as far as the runtime uses it: declared here so
// that it builds without a toolkit, found in libcuda.so.1 at run time.
// test/runtime/CudaDriverTest.cpp compares it with cuda.h where there is one.
#pragma once

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace dlc::cuda {

using Result = int;
using DeviceHandle = int;
using DevicePointer = unsigned long long;
using Context = void *;
using StreamHandle = void *;
using EventHandle = void *;
using ModuleHandle = void *;
using Function = void *;
using GraphHandle = void *;
using GraphExec = void *;
using Node = void *;

inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kNoBinaryForGpu = 209;
inline constexpr Result kUnsupportedPtxVersion = 222;

// CUdevice_attribute
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kComputeMajor = 75;
inline constexpr int kComputeMinor = 76;
// CUfunction_attribute
inline constexpr int kMaxDynamicSharedBytes = 8;
inline constexpr int kNonPortableClusterAllowed = 14;
// CUjit_option
inline constexpr int kJitErrorLog = 5;
inline constexpr int kJitErrorLogBytes = 6;
// CUlaunchAttributeID
inline constexpr int kCooperative = 2;
inline constexpr int kClusterDimension = 4;
inline constexpr int kProgrammaticSerialization = 6;
// flags
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kCaptureNone = 0;

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
    int flag;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);

struct KernelNodeParams {
  Function function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void **kernelParams;
  void **extra;
  void *kernel;
  Context context;
};
static_assert(sizeof(KernelNodeParams) == 72);

struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

/// One line for each function: member, exported name, arguments. All return a
/// Result. Those of DLC_CUDA_OPTIONAL may be missing from an older driver.
#define DLC_CUDA_FUNCTIONS(X)                                                  \
  X(getErrorName, cuGetErrorName, (Result, const char **))                     \
  X(getErrorString, cuGetErrorString, (Result, const char **))                 \
  X(deviceGetCount, cuDeviceGetCount, (int *))                                 \
  X(deviceGet, cuDeviceGet, (DeviceHandle *, int))                             \
  X(deviceGetName, cuDeviceGetName, (char *, int, DeviceHandle))               \
  X(deviceGetAttribute, cuDeviceGetAttribute, (int *, int, DeviceHandle))      \
  X(primaryCtxRetain, cuDevicePrimaryCtxRetain, (Context *, DeviceHandle))     \
  X(primaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (DeviceHandle))           \
  X(ctxPushCurrent, cuCtxPushCurrent_v2, (Context))                            \
  X(ctxPopCurrent, cuCtxPopCurrent_v2, (Context *))                            \
  X(memAlloc, cuMemAlloc_v2, (DevicePointer *, size_t))                        \
  X(memFree, cuMemFree_v2, (DevicePointer))                                    \
  X(memGetInfo, cuMemGetInfo_v2, (size_t *, size_t *))                         \
  X(memcpyHtoD, cuMemcpyHtoDAsync_v2,                                          \
    (DevicePointer, const void *, size_t, StreamHandle))                       \
  X(memcpyDtoH, cuMemcpyDtoHAsync_v2,                                          \
    (void *, DevicePointer, size_t, StreamHandle))                             \
  X(memcpyDtoD, cuMemcpyDtoDAsync_v2,                                          \
    (DevicePointer, DevicePointer, size_t, StreamHandle))                      \
  X(memsetD8, cuMemsetD8Async,                                                 \
    (DevicePointer, unsigned char, size_t, StreamHandle))                      \
  X(memsetD16, cuMemsetD16Async,                                               \
    (DevicePointer, unsigned short, size_t, StreamHandle))                     \
  X(memsetD32, cuMemsetD32Async,                                               \
    (DevicePointer, unsigned, size_t, StreamHandle))                           \
  X(streamCreate, cuStreamCreate, (StreamHandle *, unsigned))                  \
  X(streamDestroy, cuStreamDestroy_v2, (StreamHandle))                         \
  X(streamSynchronize, cuStreamSynchronize, (StreamHandle))                    \
  X(streamWaitEvent, cuStreamWaitEvent, (StreamHandle, EventHandle, unsigned)) \
  X(streamIsCapturing, cuStreamIsCapturing, (StreamHandle, int *))             \
  X(streamBeginCapture, cuStreamBeginCapture_v2, (StreamHandle, int))          \
  X(streamEndCapture, cuStreamEndCapture, (StreamHandle, GraphHandle *))       \
  X(eventCreate, cuEventCreate, (EventHandle *, unsigned))                     \
  X(eventDestroy, cuEventDestroy_v2, (EventHandle))                            \
  X(eventRecord, cuEventRecord, (EventHandle, StreamHandle))                   \
  X(eventElapsedTime, cuEventElapsedTime, (float *, EventHandle, EventHandle)) \
  X(moduleLoadData, cuModuleLoadDataEx,                                        \
    (ModuleHandle *, const void *, unsigned, int *, void **))                  \
  X(moduleUnload, cuModuleUnload, (ModuleHandle))                              \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (Function *, ModuleHandle, const char *))                                  \
  X(funcSetAttribute, cuFuncSetAttribute, (Function, int, int))                \
  X(launchKernel, cuLaunchKernelEx,                                            \
    (const LaunchConfig *, Function, void **, void **))                        \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (GraphExec *, GraphHandle, unsigned long long))                            \
  X(graphLaunch, cuGraphLaunch, (GraphExec, StreamHandle))                     \
  X(graphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2,           \
    (GraphExec, Node, const KernelNodeParams *))                               \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec))                         \
  X(graphDestroy, cuGraphDestroy, (GraphHandle))                               \
  X(tensorMapEncodeTiled, cuTensorMapEncodeTiled,                              \
    (TensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *,   \
     const uint32_t *, const uint32_t *, int, int, int, int))                  \
  X(tensorMapEncodeIm2col, cuTensorMapEncodeIm2col,                            \
    (TensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *,   \
     const int *, const int *, uint32_t, uint32_t, const uint32_t *, int, int, \
     int, int))

#define DLC_CUDA_OPTIONAL(X)                                                   \
  X(captureInfo2, cuStreamGetCaptureInfo_v2,                                   \
    (StreamHandle, int *, uint64_t *, GraphHandle *, const Node **, size_t *)) \
  X(captureInfo3, cuStreamGetCaptureInfo_v3,                                   \
    (StreamHandle, int *, uint64_t *, GraphHandle *, const Node **,            \
     const void **, size_t *))

/// The driver, once it is opened.
struct Driver {
  int version = 0; ///< 12040 for CUDA 12.4
#define DLC_CUDA_MEMBER(member, symbol, arguments)                             \
  Result(*member) arguments = nullptr;
  DLC_CUDA_FUNCTIONS(DLC_CUDA_MEMBER)
  DLC_CUDA_OPTIONAL(DLC_CUDA_MEMBER)
#undef DLC_CUDA_MEMBER

  /// A failed call as a status: "cuX failed: CUDA_ERROR_Y (sentence)".
  Status check(Result result, std::string_view call) const;
};

/// Opens libcuda.so.1 once for the process.
Status openDriver(const Driver *&driver);

/// "12.4" from 12040.
std::string versionText(int version);

} // namespace dlc::cuda
