// SPDX-License-Identifier: Apache-2.0
// The names that igemm.cuh uses for the wrappers of codegen/device/ptx.
#pragma once
#include "dlc/kernel.cuh"
#include "dlc/ptx/cluster.cuh"
#include "dlc/ptx/fence.cuh"
#include "dlc/ptx/ldmatrix.cuh"
#include "dlc/ptx/mbarrier.cuh"
#include "dlc/ptx/shuffle.cuh"
#include "dlc/ptx/tma.cuh"
#include "dlc/ptx/wgmma.cuh"
#define DI DLC_DEVICE
using namespace dlc::dev;
#ifdef DLC_HOST
template <class T> DI T __ldg(const T *p) { return ldc(p, 0); }
template <class T> DI T __shfl_sync(uint32_t, T v, int lane) {
  return shfl(v, lane);
}
#endif
DI uint32_t s32(const void *p) { return shared_address(p); }
DI uint32_t mapa(uint32_t a, uint32_t cta) { return peer_address(a, cta); }
DI void fence_init() { fence_barrier_init(); }
DI void fence_async() { fence_async_proxy(); }
DI void wg_fence() { wgmma_fence(); }
DI void wg_commit() { wgmma_commit(); }
template <int N> DI void wg_wait() { wgmma_wait<N>(); }
template <int N> DI void wg_hold(float (&d)[N]) { wgmma_hold(d); }
DI uint64_t desc128(uint32_t a) { return descriptor128(a); }
template <int Id, int N> DI void bar_sync_c() { bar_sync<Id, N>(); }
template <int Id, int N> DI void bar_arrive_c() { bar_arrive<Id, N>(); }
template <int NC> DI void wg_sync(int wg) {
  if (NC == 1 || wg == 0)
    bar_sync<1, 128>();
  else if (NC == 2 || wg == 1)
    bar_sync<2, 128>();
  else
    bar_sync<3, 128>();
}
template <int R> DI void reg_inc() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(R));
#endif
}
template <int R> DI void reg_dec() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(R));
#endif
}
DI uint32_t pack_f16(float a, float b) { return pack2<half_t>(a, b); }
DI float lo_f16(uint32_t v) { return to_float(half_t{uint16_t(v)}); }
DI float hi_f16(uint32_t v) { return to_float(half_t{uint16_t(v >> 16)}); }
DI uint32_t max_f16x2(uint32_t a, uint32_t b) {
  auto larger = [](float x, float y) { return x > y ? x : y; };
  return pack_f16(larger(lo_f16(a), lo_f16(b)), larger(hi_f16(a), hi_f16(b)));
}
DI float2 lds64f(uint32_t a) { return lds<float2>(a); }
DI float4 lds128f(uint32_t a) { return lds<float4>(a); }
DI uint4 lds128(uint32_t a) { return lds<uint4>(a); }
DI void sts32f(uint32_t a, float v) { sts(a, v); }
DI float4 make_f4(float x, float y, float z, float w) { return {x, y, z, w}; }
DI void sts128f(uint32_t a, float x, float y, float z, float w) {
  sts(a, make_f4(x, y, z, w));
}
DI void st_async_v4(uint32_t a, uint32_t bar, float x, float y, float z,
                    float w) {
  st_async(a, bar, Vec<float, 4>{{x, y, z, w}});
}
DI void ldmatrix4(uint32_t a, uint32_t &r0, uint32_t &r1, uint32_t &r2,
                  uint32_t &r3) {
  uint32_t r[4];
  dlc::dev::ldmatrix4(a, r);
  r0 = r[0], r1 = r[1], r2 = r[2], r3 = r[3];
}
DI void ldmatrix4t(uint32_t a, uint32_t &r0, uint32_t &r1, uint32_t &r2,
                   uint32_t &r3) {
  uint32_t r[4];
  dlc::dev::ldmatrix4t(a, r);
  r0 = r[0], r1 = r[1], r2 = r[2], r3 = r[3];
}
