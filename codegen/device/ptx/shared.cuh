// SPDX-License-Identifier: Apache-2.0
// Shared memory by 32-bit address: shared_address(p), lds<T>(a), sts(a, v)
// (T of 1, 2, 4, 8 or 16 bytes, aligned). The host checks bounds here, which
// it cannot do for plain pointers into shared memory.
#pragma once
#include "dlc/memory.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
namespace twin {
DLC_DEVICE uint8_t *at(uint32_t a, uint32_t bytes) {
  ::dlc::host::BlockView &v = ::dlc::host::view();
  if (__builtin_expect((a & 0xFFFFFF) + bytes > v.smemBytes, 0))
    ::dlc::host::engine->badShared(a, bytes);
  if (__builtin_expect(a >> 24 != v.rank, 0))
    return ::dlc::host::engine->remote(a);
  return v.smem + (a & 0xFFFFFF);
}
} // namespace twin
DLC_DEVICE uint32_t shared_address(const void *p) {
  ::dlc::host::BlockView &v = ::dlc::host::view();
  return uint32_t(static_cast<const uint8_t *>(p) - v.smem) | v.rank << 24;
}
template <class T> DLC_DEVICE void twin_aligned(uint32_t a) {
  if (::dlc::host::checked() && a % sizeof(T))
    ::dlc::host::engine->fail(
        "%d bytes at shared address %#x, which is not aligned", int(sizeof(T)),
        a & 0xFFFFFF);
}
template <class T> DLC_DEVICE T lds(uint32_t a) {
  twin_aligned<T>(a);
  T v;
  memcpy(&v, twin::at(a, sizeof(T)), sizeof(T));
  return v;
}
template <class T> DLC_DEVICE void sts(uint32_t a, T v) {
  twin_aligned<T>(a);
  memcpy(twin::at(a, sizeof(T)), &v, sizeof(T));
  if (::dlc::host::checked())
    ::dlc::host::engine->noteWrite(a);
}
#else
DLC_DEVICE uint32_t shared_address(const void *p) {
  return uint32_t(__cvta_generic_to_shared(p));
}
template <class T> DLC_DEVICE T lds(uint32_t a) {
  using Word = typename WordOf<sizeof(T)>::Type;
  if constexpr (sizeof(T) == 16) {
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(a)
                 : "memory");
    return bits_as<T>(v);
  } else if constexpr (sizeof(T) == 8) {
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];"
                 : "=r"(v.x), "=r"(v.y)
                 : "r"(a)
                 : "memory");
    return bits_as<T>(v);
  } else if constexpr (sizeof(T) == 4) {
    uint32_t v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
    return bits_as<T>(v);
  } else if constexpr (sizeof(T) == 2) {
    uint16_t v;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(a) : "memory");
    return bits_as<T>(v);
  } else {
    uint32_t v;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
    return bits_as<T>(Word(v));
  }
}
template <class T> DLC_DEVICE void sts(uint32_t a, T t) {
  using Word = typename WordOf<sizeof(T)>::Type;
  const Word v = bits_as<Word>(t);
  if constexpr (sizeof(T) == 16)
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(a), "r"(v.x),
                 "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
  else if constexpr (sizeof(T) == 8)
    asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(a), "r"(v.x), "r"(v.y)
                 : "memory");
  else if constexpr (sizeof(T) == 4)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory");
  else if constexpr (sizeof(T) == 2)
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(a), "h"(v) : "memory");
  else
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(a), "r"(uint32_t(v))
                 : "memory");
}
#endif
} // namespace dlc::dev
