// SPDX-License-Identifier: Apache-2.0
// CUDA's language as the system's C++ compiler sees it: keywords, built-in
// variables and types, barriers, libm. The base of every host twin.
//
// Emitted kernels are compiled for the host one file each, with
//   -std=c++20 -DDLC_HOST -O2 -march=x86-64-v3 (aarch64: none) -fPIC -shared
//   -fno-strict-aliasing -ffp-contract=off -fno-gnu-unique
//   -fno-exceptions -fno-rtti -fvisibility=hidden -Wno-unknown-pragmas
//   -I FOLDER    (which holds the embedded headers as dlc/...)
// and, where the machine lacks AVX2, without -march (nothing else changes).
// No standard includes here: they are most of the time of a compilation.
#pragma once
#include "dlc/host/abi.h"

extern "C" {
void *memcpy(void *, const void *, size_t) noexcept;
void *memset(void *, int, size_t) noexcept;
#define DLC_LIBM1(name)                                                        \
  double name(double) noexcept;                                                \
  float name##f(float) noexcept;
#define DLC_LIBM2(name)                                                        \
  double name(double, double) noexcept;                                        \
  float name##f(float, float) noexcept;
DLC_LIBM1(exp)
DLC_LIBM1(exp2)
DLC_LIBM1(expm1)
DLC_LIBM1(log)
DLC_LIBM1(log2)
DLC_LIBM1(log10)
DLC_LIBM1(log1p)
DLC_LIBM1(sqrt)
DLC_LIBM1(cbrt)
DLC_LIBM1(sin)
DLC_LIBM1(cos)
DLC_LIBM1(tan)
DLC_LIBM1(asin)
DLC_LIBM1(acos)
DLC_LIBM1(atan)
DLC_LIBM1(sinh)
DLC_LIBM1(cosh)
DLC_LIBM1(tanh)
DLC_LIBM1(asinh)
DLC_LIBM1(acosh)
DLC_LIBM1(atanh)
DLC_LIBM1(erf)
DLC_LIBM1(erfc)
DLC_LIBM1(floor)
DLC_LIBM1(ceil)
DLC_LIBM1(trunc)
DLC_LIBM1(round)
DLC_LIBM1(rint)
DLC_LIBM1(fabs)
DLC_LIBM1(tgamma)
DLC_LIBM1(lgamma)
DLC_LIBM2(pow)
DLC_LIBM2(fmod)
DLC_LIBM2(remainder)
DLC_LIBM2(atan2)
DLC_LIBM2(copysign)
DLC_LIBM2(fmax)
DLC_LIBM2(fmin)
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
#undef DLC_LIBM1
#undef DLC_LIBM2
}
#ifndef INFINITY
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#endif

#define __global__ static
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) alignas(n)
#define __restrict__ __restrict
#define warpSize 32

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  uint32_t x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};
using CUtensorMap = dlc::host::TensorMap;

namespace dlc::host {
// One pair per shared object: weak so that several kernels can be linked into
// one, hidden so that objects do not share them.
__attribute__((weak, visibility("hidden"))) const Engine *engine;
__attribute__((weak, visibility("hidden"))) intptr_t selfOffset;

__forceinline__ const char *threadPointer() {
  const char *p;
#if defined(__x86_64__)
  asm("movq %%fs:0, %0" : "=r"(p));
#elif defined(__aarch64__)
  asm("mrs %0, tpidr_el0" : "=r"(p));
#else
#error "the host target knows x86-64 and aarch64"
#endif
  return p;
}
/// The running thread: constant for as long as a kernel's body runs.
__forceinline__ Thread *self() {
  return *reinterpret_cast<Thread *const *>(threadPointer() + selfOffset);
}
__forceinline__ BlockView &view() {
  return *reinterpret_cast<BlockView *>(self()->block);
}
/// Whether this launch checks (adversarial mode).
__forceinline__ bool checked() {
  return __builtin_expect(self()->check, 0);
}
} // namespace dlc::host

extern "C" __attribute__((weak, visibility("default"))) void
dlc_host_bind(const dlc::host::Engine *e) {
  dlc::host::engine = e;
  dlc::host::selfOffset = e->selfOffset;
}

#define threadIdx (::dlc::host::self()->threadIdx)
#define blockIdx (::dlc::host::view().blockIdx)
#define blockDim (::dlc::host::view().blockDim)
#define gridDim (::dlc::host::view().gridDim)

__forceinline__ void __syncthreads() { dlc::host::engine->barSync(0, 0); }
__forceinline__ void __syncwarp(uint32_t mask = ~0u) {
  dlc::host::engine->warpCollective(
      mask, [](void *const *, uint32_t) {}, nullptr);
}
__forceinline__ void __threadfence() { __atomic_thread_fence(5); }
__forceinline__ void __threadfence_block() {}
__forceinline__ int __float_as_int(float f) {
  return __builtin_bit_cast(int, f);
}
__forceinline__ float __int_as_float(int i) {
  return __builtin_bit_cast(float, i);
}
__forceinline__ int __popc(uint32_t x) { return __builtin_popcount(x); }
__forceinline__ int __clz(int x) {
  return x ? __builtin_clz(uint32_t(x)) : 32;
}
__forceinline__ uint32_t __umulhi(uint32_t a, uint32_t b) {
  return uint32_t(uint64_t(a) * b >> 32);
}
template <class T> __forceinline__ T min(T a, T b) { return b < a ? b : a; }
template <class T> __forceinline__ T max(T a, T b) { return a < b ? b : a; }
