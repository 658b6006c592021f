// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory:
//
//   cp_async<N>(dst, src)   N = 4, 8 or 16 bytes, both sides aligned to N;
//                           src == nullptr writes zeros
//   cp_commit()             closes the group of copies issued since
//   cp_wait<N>()            waits until at most N groups are in flight; a
//                           barrier must follow before others read
//
// Below sm_80 a plain load and store. On the host the copies land at once in
// fast mode and as late as the wait allows in adversarial mode.
#pragma once
#include "dlc/ptx/shared.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
template <int N> DLC_DEVICE void cp_async(uint32_t dst, const void *src) {
  static_assert(N == 4 || N == 8 || N == 16);
  if (::dlc::host::checked())
    return ::dlc::host::engine->cpAsync(dst, src, N, src ? N : 0);
  uint8_t *d = twin::at(dst, N);
  if (src)
    memcpy(d, src, N);
  else
    memset(d, 0, N);
}
DLC_DEVICE void cp_commit() {
  if (::dlc::host::checked())
    ::dlc::host::engine->cpCommit();
}
template <int N> DLC_DEVICE void cp_wait() {
  if (::dlc::host::checked())
    ::dlc::host::engine->cpWait(N);
}
#elif __CUDA_ARCH__ >= 800
template <int N> DLC_DEVICE void cp_async(uint32_t dst, const void *src) {
  static_assert(N == 4 || N == 8 || N == 16);
  const int bytes = src ? N : 0;
  if constexpr (N == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(
                     dst),
                 "l"(__cvta_generic_to_global(src)), "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(dst),
                 "l"(__cvta_generic_to_global(src)), "n"(N), "r"(bytes)
                 : "memory");
}
DLC_DEVICE void cp_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N> DLC_DEVICE void cp_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
#else
template <int N> DLC_DEVICE void cp_async(uint32_t dst, const void *src) {
  static_assert(N == 4 || N == 8 || N == 16);
  using Word = typename WordOf<N>::Type;
  sts(dst, src ? *static_cast<const Word *>(src) : Word{});
}
DLC_DEVICE void cp_commit() {}
template <int N> DLC_DEVICE void cp_wait() {}
#endif
} // namespace dlc::dev
