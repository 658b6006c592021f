// SPDX-License-Identifier: Apache-2.0
// Atomic operations on global memory and the fence that orders them:
// atomic_add, atomic_min, atomic_max (what was there before is returned),
// fence_gpu().
#pragma once
#include "dlc/memory.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
template <class T, class F> DLC_DEVICE T atomic_update(T *p, F f) {
  check_write(p);
  T old, now;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do
    now = f(old);
  while (!__atomic_compare_exchange(p, &old, &now, true, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED));
  return old;
}
template <class T, class I> DLC_DEVICE T atomic_add(T *p, I i, T v) {
  return atomic_update(p + i, [v](T x) { return T(x + v); });
}
template <class T, class I> DLC_DEVICE T atomic_min(T *p, I i, T v) {
  return atomic_update(p + i, [v](T x) { return v < x ? v : x; });
}
template <class T, class I> DLC_DEVICE T atomic_max(T *p, I i, T v) {
  return atomic_update(p + i, [v](T x) { return x < v ? v : x; });
}
DLC_DEVICE void fence_gpu() { __threadfence(); }
#else
template <class T> struct AtomicOf {
  using Type = T;
};
template <> struct AtomicOf<int64_t> {
  using Type = long long;
};
template <> struct AtomicOf<uint64_t> {
  using Type = unsigned long long;
};
// Two's complement: signed sums are unsigned ones (CUDA has no signed 64).
template <class T, class I> DLC_DEVICE T atomic_add(T *p, I i, T v) {
  if constexpr (sizeof(T) == 8 && T(0.5) == T(0))
    return T(atomicAdd(reinterpret_cast<unsigned long long *>(p + i),
                       (unsigned long long)v));
  else
    return atomicAdd(p + i, v);
}
template <class T, class I> DLC_DEVICE T atomic_min(T *p, I i, T v) {
  using A = typename AtomicOf<T>::Type;
  return T(atomicMin(reinterpret_cast<A *>(p + i), A(v)));
}
template <class T, class I> DLC_DEVICE T atomic_max(T *p, I i, T v) {
  using A = typename AtomicOf<T>::Type;
  return T(atomicMax(reinterpret_cast<A *>(p + i), A(v)));
}
DLC_DEVICE void fence_gpu() { __threadfence(); }
#endif
} // namespace dlc::dev
