// SPDX-License-Identifier: Apache-2.0
// Element types of device code: half_t, bf16_t, Vec<T, V>, conversions.
//
//   half_t, bf16_t        storage of 16 bits; arithmetic happens in float
//   to_float(x)           half_t, bf16_t -> float (exact)
//   from_float<T>(f)      float -> half_t, bf16_t, rounded to nearest even
//   convert<To>(x)        between any two of half_t, bf16_t, float, double and
//                         the integers; ->int conversions are C's, use
//                         dlc::scalar's cast for ONNX's saturation
//   Compute<T>            float for half_t and bf16_t, else T itself
//   Vec<T, V>             V (a power of two) elements, aligned to their size up
//                         to 16 bytes, v.e[i], v[i]
//   convert_vec<To>(v)    the same for a whole Vec (vectorised on the host)
//
// Macros: DLC_DEVICE (every device function), DLC_SCALAR (functions of
// dlc::scalar, which ir/ generates into "dlc/scalar.cuh"; it must come after
// this header), DLC_UNROLL and DLC_NO_UNROLL (before a loop).
#pragma once
#ifdef DLC_HOST
#include "dlc/host/cuda.h"
#define DLC_UNROLL
#define DLC_NO_UNROLL
#else
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
// The driver's opaque tensor map.
struct alignas(64) CUtensorMap {
  uint64_t opaque[16];
};
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#endif
#define DLC_UNROLL _Pragma("unroll")
#define DLC_NO_UNROLL _Pragma("unroll 1")
#endif
#define DLC_DEVICE __device__ __forceinline__
#ifndef DLC_SCALAR
#define DLC_SCALAR __device__ __forceinline__
#endif

namespace dlc::dev {
struct half_t {
  uint16_t bits;
};
struct bf16_t {
  uint16_t bits;
};
/// V elements that are loaded and stored as one.
template <class T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Vec {
  T e[V];
  DLC_DEVICE T &operator[](int i) { return e[i]; }
  DLC_DEVICE const T &operator[](int i) const { return e[i]; }
};
template <class A, class B> inline constexpr bool kSame = false;
template <class A> inline constexpr bool kSame<A, A> = true;
template <class T>
inline constexpr bool kIs16 = kSame<T, half_t> || kSame<T, bf16_t>;

template <class T> struct ComputeOf {
  using Type = T;
};
template <> struct ComputeOf<half_t> {
  using Type = float;
};
template <> struct ComputeOf<bf16_t> {
  using Type = float;
};
template <class T> using Compute = typename ComputeOf<T>::Type;
} // namespace dlc::dev

#include "dlc/ptx/convert.cuh"

namespace dlc::dev {
template <class To, class From> DLC_DEVICE To convert(From x) {
  if constexpr (kSame<To, From>)
    return x;
  else if constexpr (kIs16<From>)
    return convert<To>(to_float(x));
  else if constexpr (kIs16<To>)
    return from_float<To>(float(x));
  else
    return To(x);
}
template <class To, class From, int V>
DLC_DEVICE Vec<To, V> convert_vec(const Vec<From, V> &v) {
  Vec<To, V> r;
#ifdef DLC_HOST
  if constexpr (V % 8 == 0 && kSame<To, float> && kIs16<From>) {
    for (int i = 0; i < V; i += 8)
      twin::widen8(v.e + i, r.e + i);
    return r;
  }
  if constexpr (V % 8 == 0 && kSame<From, float> && kIs16<To>) {
    for (int i = 0; i < V; i += 8)
      twin::narrow8(v.e + i, r.e + i);
    return r;
  }
#endif
  DLC_UNROLL
  for (int i = 0; i < V; i++)
    r.e[i] = convert<To>(v.e[i]);
  return r;
}
} // namespace dlc::dev
