// SPDX-License-Identifier: Apache-2.0
// Global memory: the only way in which kernels touch it.
//
//   ld<T>(p, i)  st<T>(p, i, v)          one element
//   ldv<V>(p, i) stv<V>(p, i, v)         Vec<T, V> at p + i, aligned to its
//                                        size up to 16 bytes (V a power of 2;
//                                        more than 16 bytes are several
//                                        accesses)
//   ldc<T>, ldcv<V>                      the same for data that no running
//                                        kernel writes (weights), cached
//   ld_cell(p)                           a device cell (int64), after pdl_wait
//   atomic_add/min/max(p, i, v)          returns what was there before
//
// On the host, in adversarial mode, each checks that the bytes are aligned and
// lie in one of the launch's buffers. `i` counts elements and may be any integer type.
#pragma once
#include "dlc/types.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
namespace twin {
template <class T> inline void check(const T *p, bool write) {
  // x86 would let it pass, a GPU would not.
  if (reinterpret_cast<uintptr_t>(p) % alignof(T))
    ::dlc::host::engine->fail("%s of %d bytes at %p, which is not aligned",
                              write ? "store" : "load", int(sizeof(T)),
                              static_cast<const void *>(p));
  ::dlc::host::engine->checkGlobal(p, sizeof(T), write);
}
} // namespace twin
#endif
template <class T> DLC_DEVICE void check_read(const T *p) {
#ifdef DLC_HOST
  if (::dlc::host::checked())
    twin::check(p, false);
#endif
}
template <class T> DLC_DEVICE void check_write(const T *p) {
#ifdef DLC_HOST
  if (::dlc::host::checked())
    twin::check(p, true);
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
/// A Vec as the words it is moved in.
template <class T, int V> struct Words {
  static constexpr int kBytes = int(sizeof(T)) * V;
  using Word = typename WordOf<(kBytes < 16 ? kBytes : 16)>::Type;
  static constexpr int kCount = kBytes / int(sizeof(Word));
  Word w[kCount];
};
template <int V, class T, class I> DLC_DEVICE Vec<T, V> ldv(const T *p, I i) {
  using W = Words<T, V>;
  const auto *q = reinterpret_cast<const typename W::Word *>(p + i);
  W r;
  DLC_UNROLL
  for (int k = 0; k < W::kCount; k++) {
    check_read(q + k);
    r.w[k] = q[k];
  }
  return bits_as<Vec<T, V>>(r);
}
template <int V, class T, class I>
DLC_DEVICE void stv(T *p, I i, const Vec<T, V> &v) {
  using W = Words<T, V>;
  auto *q = reinterpret_cast<typename W::Word *>(p + i);
  const W r = bits_as<W>(v);
  DLC_UNROLL
  for (int k = 0; k < W::kCount; k++) {
    check_write(q + k);
    q[k] = r.w[k];
  }
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
  using W = Words<T, V>;
  const auto *q = reinterpret_cast<const typename W::Word *>(p + i);
  W r;
  DLC_UNROLL
  for (int k = 0; k < W::kCount; k++)
    r.w[k] = __ldg(q + k);
  return bits_as<Vec<T, V>>(r);
#endif
}
DLC_DEVICE int64_t ld_cell(const int64_t *p) {
  check_read(p);
  return *p;
}
} // namespace dlc::dev
#include "dlc/ptx/atomic.cuh"
