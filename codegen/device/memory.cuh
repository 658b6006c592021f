// SPDX-License-Identifier: Apache-2.0
// Global memory: the only way in which kernels touch it.
//
//   ld<T>(p, i)  st<T>(p, i, v)          one element
//   ldv<V>(p, i) stv<V>(p, i, v)         Vec<T, V> at p + i, aligned to its
//                                        size (V * sizeof(T) in 1, 2, 4, 8, 16)
//   ldc<T>, ldcv<V>                      the same for data that no running
//                                        kernel writes (weights), cached
//   ld_cell(p)                           a device cell (int64), after pdl_wait
//   atomic_add/min/max(p, i, v)          returns what was there before
//
// On the host, in adversarial mode, each checks that the bytes lie in one of
// the launch's buffers. `i` counts elements and may be any integer type.
#pragma once
#include "dlc/types.cuh"

namespace dlc::dev {
template <class T> DLC_DEVICE void check_read(const T *p) {
#ifdef DLC_HOST
  if (::dlc::host::checked())
    ::dlc::host::engine->checkGlobal(p, sizeof(T), false);
#endif
}
template <class T> DLC_DEVICE void check_write(const T *p) {
#ifdef DLC_HOST
  if (::dlc::host::checked())
    ::dlc::host::engine->checkGlobal(p, sizeof(T), true);
#endif
}
template <class T, class I> DLC_DEVICE T ld(const T *p, I i) {
  check_read(p + i);
  return p[i];
}
template <class T, class I, class U> DLC_DEVICE void st(T *p, I i, U v) {
  static_assert(kSame<T, U>, "round explicitly: convert<T>(v)");
  check_write(p + i);
  p[i] = v;
}
/// A register's worth of memory traffic of `Bytes` bytes.
template <int Bytes> struct WordOf;
template <> struct WordOf<1> {
  using Type = uint8_t;
};
template <> struct WordOf<2> {
  using Type = uint16_t;
};
template <> struct WordOf<4> {
  using Type = uint32_t;
};
template <> struct WordOf<8> {
  using Type = uint2;
};
template <> struct WordOf<16> {
  using Type = uint4;
};
template <class To, class From> DLC_DEVICE To bits_as(const From &v) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, v);
}
template <int V, class T, class I> DLC_DEVICE Vec<T, V> ldv(const T *p, I i) {
  using Word = typename WordOf<sizeof(T) * V>::Type;
  const auto *q = reinterpret_cast<const Word *>(p + i);
  check_read(q);
  return bits_as<Vec<T, V>>(*q);
}
template <int V, class T, class I>
DLC_DEVICE void stv(T *p, I i, const Vec<T, V> &v) {
  using Word = typename WordOf<sizeof(T) * V>::Type;
  auto *q = reinterpret_cast<Word *>(p + i);
  check_write(q);
  *q = bits_as<Word>(v);
}
template <class T, class I> DLC_DEVICE T ldc(const T *p, I i) {
  check_read(p + i);
#ifdef DLC_HOST
  return p[i];
#else
  using Word = typename WordOf<sizeof(T)>::Type;
  return bits_as<T>(__ldg(reinterpret_cast<const Word *>(p + i)));
#endif
}
template <int V, class T, class I> DLC_DEVICE Vec<T, V> ldcv(const T *p, I i) {
#ifdef DLC_HOST
  return ldv<V>(p, i);
#else
  using Word = typename WordOf<sizeof(T) * V>::Type;
  return bits_as<Vec<T, V>>(__ldg(reinterpret_cast<const Word *>(p + i)));
#endif
}
DLC_DEVICE int64_t ld_cell(const int64_t *p) {
  check_read(p);
  return *p;
}
} // namespace dlc::dev
#include "dlc/ptx/atomic.cuh"
