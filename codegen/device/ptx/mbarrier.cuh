// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory that count arrivals and bytes (sm_90). Addresses
// are shared ones; a fresh barrier passes mbar_wait(b, 1).
#pragma once
#include "dlc/ptx/cluster.cuh"
#include "dlc/ptx/fence.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
DLC_DEVICE void mbar_init(uint32_t b, uint32_t count) {
  ::dlc::host::engine->mbarInit(b, count);
}
/// One arrival, and so many bytes that copies will complete.
DLC_DEVICE void mbar_expect(uint32_t b, uint32_t bytes) {
  ::dlc::host::engine->mbarArrive(b, 1, int(bytes));
}
DLC_DEVICE void mbar_arrive(uint32_t b) {
  ::dlc::host::engine->mbarArrive(b, 1, 0);
}
DLC_DEVICE void mbar_arrive_remote(uint32_t b, uint32_t rank) {
  ::dlc::host::engine->mbarArrive(peer_address(b, rank), 1, 0);
}
DLC_DEVICE void mbar_wait(uint32_t b, uint32_t parity) {
  ::dlc::host::engine->mbarWait(b, parity);
}
/// Sixteen bytes into a peer's shared memory, counted on its barrier.
DLC_DEVICE void st_async(uint32_t a, uint32_t b, const Vec<float, 4> &v) {
  ::dlc::host::engine->stAsync(a, b, &v, 16);
}
/// True in one thread of the warp.
DLC_DEVICE bool elect() { return ::dlc::host::self()->lane == 0; }
#elif __CUDA_ARCH__ >= 900
DLC_DEVICE void mbar_init(uint32_t b, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(count));
}
DLC_DEVICE void mbar_expect(uint32_t b, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b),
      "r"(bytes)
      : "memory");
}
DLC_DEVICE void mbar_arrive(uint32_t b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory");
}
// No .release.cluster: a release at cluster scope costs a memory barrier per
// arrival, and who only read the slot through wgmma has nothing to publish.
DLC_DEVICE void mbar_arrive_remote(uint32_t b, uint32_t rank) {
  asm volatile("{.reg .b32 r; mapa.shared::cluster.u32 r, %0, %1; "
               "mbarrier.arrive.shared::cluster.b64 _, [r];}" ::"r"(b),
               "r"(rank)
               : "memory");
}
DLC_DEVICE bool mbar_try(uint32_t b, uint32_t parity) {
  uint32_t ok;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, "
               "[%1], %2; selp.u32 %0,1,0,p;}"
               : "=r"(ok)
               : "r"(b), "r"(parity)
               : "memory");
  return ok;
}
// A wait that outlasts about 2 s is a lost arrival: trap, so that the launch
// fails instead of hanging the device.
DLC_DEVICE void mbar_wait(uint32_t b, uint32_t parity) {
  if (mbar_try(b, parity))
    return;
  const long long start = clock64();
  while (!mbar_try(b, parity))
    if (clock64() - start > 4000000000ll)
      asm volatile("trap;");
}
DLC_DEVICE void st_async(uint32_t a, uint32_t b, const Vec<float, 4> &v) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
               "[%0], {%2,%3,%4,%5}, [%1];" ::"r"(a),
               "r"(b), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
               : "memory");
}
DLC_DEVICE bool elect() {
  uint32_t p;
  asm volatile("{.reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 %0,1,0,q;}"
               : "=r"(p));
  return p;
}
#endif
} // namespace dlc::dev
