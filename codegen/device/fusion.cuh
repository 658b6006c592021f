// SPDX-License-Identifier: Apache-2.0
// What printed fusion bodies call: loads that widen to the type that bodies
// compute in, stores that round, index arithmetic.
//
//   load(p, i), load<V>(p, i)                 Compute<T>, Vec<Compute<T>, V>
//   load_weight(p, i), load_weight<V>(p, i)   the same for constant memory
//   store(p, i, x), store<V>(p, i, v)         rounded to T
//   round_to<T>(x)                            through T and back
//   floor_div, floor_mod, ceil_div, index_min, index_max
//   element_index<Index>(x, extent)           an index read from a tensor
//   multiply_add(a, b, c)                     a * b + c, rounded once
#pragma once
#include "dlc/float8.cuh"
#include "dlc/kernel.cuh"
#include "dlc/lanes.cuh"
#include "dlc/scalar.cuh"

namespace dlc::dev {
template <class T> DLC_DEVICE Compute<T> widen(T x) {
  return convert<Compute<T>>(x);
}
template <class T, class I> DLC_DEVICE Compute<T> load(const T *p, I i) {
  return widen(ld(p, i));
}
template <int V, class T, class I>
DLC_DEVICE Vec<Compute<T>, V> load(const T *p, I i) {
  return convert_vec<Compute<T>>(ldv<V>(p, i));
}
template <class T, class I> DLC_DEVICE Compute<T> load_weight(const T *p, I i) {
  return widen(ldc(p, i));
}
template <int V, class T, class I>
DLC_DEVICE Vec<Compute<T>, V> load_weight(const T *p, I i) {
  return convert_vec<Compute<T>>(ldcv<V>(p, i));
}
template <class T, class I> DLC_DEVICE void store(T *p, I i, Compute<T> x) {
  st(p, i, convert<T>(x));
}
template <int V, class T, class I>
DLC_DEVICE void store(T *p, I i, const Vec<Compute<T>, V> &v) {
  stv(p, i, convert_vec<T>(v));
}
template <class T> DLC_DEVICE Compute<T> round_to(Compute<T> x) {
  return widen(convert<T>(x));
}

template <class I> DLC_DEVICE I floor_div(I a, I b) {
  const I q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}
template <class I> DLC_DEVICE I floor_mod(I a, I b) {
  const I r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
template <class I> DLC_DEVICE I ceil_div(I a, I b) {
  return -floor_div<I>(-a, b);
}
template <class I> DLC_DEVICE I index_min(I a, I b) { return b < a ? b : a; }
template <class I> DLC_DEVICE I index_max(I a, I b) { return a < b ? b : a; }

/// Negative indices count from the end; -1 where out of range.
template <class I, class X> DLC_DEVICE I element_index(X x, I extent) {
  const int64_t i = int64_t(x) < 0 ? int64_t(x) + extent : int64_t(x);
  return i < 0 || i >= extent ? I(-1) : I(i);
}

DLC_DEVICE float multiply_add(float a, float b, float c) {
  return fmaf(a, b, c);
}
DLC_DEVICE double multiply_add(double a, double b, double c) {
  return fma(a, b, c);
}
template <class T> DLC_DEVICE T multiply_add(T a, T b, T c) {
  return dlc::scalar::add(c, dlc::scalar::mul(a, b));
}
} // namespace dlc::dev
