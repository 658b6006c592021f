// SPDX-License-Identifier: Apache-2.0
// What the scalar expressions of ir/PointwiseOps.td call: functions that take
// more than an expression. "ir/scalar/Scalar.h", which dlc-tblgen writes from
// the records, includes this file; the host compiler (constant folding,
// reference, host target) and NVRTC (emitted kernels) compile the same two
// texts, so that they cannot differ on NaN, overflow or integer division.
//
// T is float, double, bool or an integer type. Narrower floating-point types
// are storage only: callers widen to float and round what they store.
#pragma once

#ifndef DLC_SCALAR
#ifdef __CUDACC_RTC__
#define DLC_SCALAR __device__ __forceinline__
#else
#define DLC_SCALAR inline
#endif
#endif

// No include: NVRTC has CUDA's functions built in, other compilers have C's
// as builtins.
#ifdef __CUDACC_RTC__
#define DLC_LIBM(name) ::name
#define DLC_INFINITY __int_as_float(0x7f800000)
#else
#define DLC_LIBM(name) __builtin_##name
#define DLC_INFINITY __builtin_inff()
#endif

namespace dlc::scalar {

//===--- What the types are -----------------------------------------------===//
template <class T> inline constexpr bool kIsFloat = false;
template <> inline constexpr bool kIsFloat<float> = true;
template <> inline constexpr bool kIsFloat<double> = true;
template <class T> inline constexpr bool kIsBool = false;
template <> inline constexpr bool kIsBool<bool> = true;
template <class T> inline constexpr bool kIsSigned = T(-1) < T(0);
template <> inline constexpr bool kIsSigned<bool> = false;
template <class T> inline constexpr int kBits = int(sizeof(T) * 8);

/// Unsigned type in which T's arithmetic wraps without undefined behaviour.
template <int Bytes> struct WideUnsigned { using Type = unsigned int; };
template <> struct WideUnsigned<8> { using Type = unsigned long long; };
template <class T> using Unsigned = typename WideUnsigned<sizeof(T)>::Type;

/// Is x below zero? Without a comparison that compilers call pointless.
template <class T> DLC_SCALAR bool is_negative(T x) {
  if constexpr (kIsSigned<T>)
    return x < T(0);
  else
    return false;
}

/// Smallest value: -inf for floating point. What max over nothing gives.
template <class T> DLC_SCALAR T lowest() {
  if constexpr (kIsFloat<T>)
    return T(-DLC_INFINITY);
  else if constexpr (kIsSigned<T>)
    return T(Unsigned<T>(1) << (kBits<T> - 1));
  else
    return T(0);
}
/// Largest value: +inf for floating point. What min over nothing gives.
template <class T> DLC_SCALAR T highest() {
  if constexpr (kIsFloat<T>)
    return T(DLC_INFINITY);
  else if constexpr (kIsBool<T>)
    return true;
  else if constexpr (kIsSigned<T>)
    return T((Unsigned<T>(1) << (kBits<T> - 1)) - 1);
  else
    return T(~Unsigned<T>(0));
}

//===--- Arithmetic -------------------------------------------------------===//
template <class T> DLC_SCALAR T sum(T x, T y) {
  if constexpr (kIsFloat<T>)
    return x + y;
  else if constexpr (kIsBool<T>)
    return x || y;
  else
    return T(Unsigned<T>(x) + Unsigned<T>(y));
}
template <class T> DLC_SCALAR T difference(T x, T y) {
  if constexpr (kIsFloat<T>)
    return x - y;
  else if constexpr (kIsBool<T>)
    return x != y;
  else
    return T(Unsigned<T>(x) - Unsigned<T>(y));
}
template <class T> DLC_SCALAR T product(T x, T y) {
  if constexpr (kIsFloat<T>)
    return x * y;
  else if constexpr (kIsBool<T>)
    return x && y;
  else
    return T(Unsigned<T>(x) * Unsigned<T>(y));
}
template <class T> DLC_SCALAR T negated(T x) {
  if constexpr (kIsFloat<T>)
    return -x;
  else
    return difference(T(0), x);
}
template <class T> DLC_SCALAR T quotient(T x, T y) {
  if constexpr (kIsFloat<T>) {
    return x / y;
  } else if constexpr (kIsBool<T>) {
    return x && y;
  } else {
    if (y == T(0))
      return T(0);
    if constexpr (kIsSigned<T>)
      if (y == T(-1)) // lowest / -1 would trap
        return negated(x);
    return T(x / y);
  }
}
/// With the sign of x.
template <class T> DLC_SCALAR T remainder(T x, T y) {
  if constexpr (kIsFloat<T>) {
    if constexpr (sizeof(T) == 4)
      return DLC_LIBM(fmodf)(x, y);
    else
      return DLC_LIBM(fmod)(x, y);
  } else if constexpr (kIsBool<T>) {
    return false;
  } else {
    if (y == T(0))
      return T(0);
    if constexpr (kIsSigned<T>)
      if (y == T(-1)) // lowest % -1 would trap
        return T(0);
    return T(x % y);
  }
}
/// With the sign of y.
template <class T> DLC_SCALAR T floored_remainder(T x, T y) {
  T r = remainder(x, y);
  if constexpr (kIsFloat<T> || kIsSigned<T>) {
    if (r != T(0) && (r < T(0)) != (y < T(0)))
      return sum(r, y);
    if constexpr (kIsFloat<T>)
      if (r == T(0)) // a zero has the divisor's sign, too
        return y < T(0) ? -T(0) : T(0);
  }
  return r;
}
template <class T> DLC_SCALAR T magnitude(T x) {
  if constexpr (kIsFloat<T>) {
    if constexpr (sizeof(T) == 4)
      return DLC_LIBM(fabsf)(x);
    else
      return DLC_LIBM(fabs)(x);
  } else {
    return is_negative(x) ? negated(x) : x;
  }
}

//===--- Order
//--------------------------------------------------------------===//
/// A total order for sorting: a NaN is above all numbers.
template <class T> DLC_SCALAR bool sorts_before(T x, T y) {
  return x < y || (y != y && x == x);
}

//===--- Functions of floating-point numbers ------------------------------===//
#define DLC_FLOAT_FUNCTION(name)                                               \
  template <class T> DLC_SCALAR T name(T x) {                                  \
    static_assert(kIsFloat<T>, #name " is for floating-point types");          \
    if constexpr (sizeof(T) == 4)                                              \
      return DLC_LIBM(name##f)(x);                                             \
    else                                                                       \
      return DLC_LIBM(name)(x);                                                \
  }
/// The same bits from every implementation.
namespace ieee {
DLC_FLOAT_FUNCTION(floor)
DLC_FLOAT_FUNCTION(ceil)
DLC_FLOAT_FUNCTION(rint) // halves to even
DLC_FLOAT_FUNCTION(sqrt)
} // namespace ieee
/// Implementations differ in the last bits: for ops of the trait
/// Transcendental.
namespace libm {
DLC_FLOAT_FUNCTION(exp)
DLC_FLOAT_FUNCTION(expm1)
DLC_FLOAT_FUNCTION(log)
DLC_FLOAT_FUNCTION(log1p)
DLC_FLOAT_FUNCTION(erf)
DLC_FLOAT_FUNCTION(tanh)
DLC_FLOAT_FUNCTION(sin)
DLC_FLOAT_FUNCTION(cos)
DLC_FLOAT_FUNCTION(tan)
DLC_FLOAT_FUNCTION(asin)
DLC_FLOAT_FUNCTION(acos)
DLC_FLOAT_FUNCTION(atan)
DLC_FLOAT_FUNCTION(sinh)
DLC_FLOAT_FUNCTION(cosh)
DLC_FLOAT_FUNCTION(asinh)
DLC_FLOAT_FUNCTION(acosh)
DLC_FLOAT_FUNCTION(atanh)
} // namespace libm
#undef DLC_FLOAT_FUNCTION

//===--- Element types ----------------------------------------------------===//
/// Float to integer truncates and saturates, NaN gives 0; integer to narrower
/// integer wraps; to bool: is it not zero.
template <class To, class From> DLC_SCALAR To cast_to(From x) {
  if constexpr (kIsBool<To>) {
    return x != From(0);
  } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
    // From(highest) may round up to a power of two: as an exclusive bound it
    // is right either way, since no value of From lies between.
    if (x != x)
      return To(0);
    if (x <= From(lowest<To>()))
      return lowest<To>();
    if (x >= From(highest<To>()))
      return highest<To>();
    return To(x);
  } else {
    return To(x);
  }
}

/// x, or the whole number that it misses by rounding alone: CUDA's pow is up to
/// two units in the last place off (CUDA C++ Programming Guide, "Mathematical
/// Functions"), and the square root of 9 must not truncate to 2.
DLC_SCALAR double nearby_whole(double x) {
  const double whole = DLC_LIBM(rint)(x);
  const double off = whole - x, slack = 0x1p-50 * whole;
  return off * off <= slack * slack ? whole : x;
}

/// x to the power of y in x's type. Integers wrap; an integer to a negative
/// integer power is the truncated quotient, 0 for the base 0.
template <class T, class E> DLC_SCALAR T power(T x, E y) {
  if constexpr (kIsFloat<T>) {
    if constexpr (sizeof(T) == 4)
      return DLC_LIBM(powf)(x, float(y));
    else
      return DLC_LIBM(pow)(x, double(y));
  } else if constexpr (kIsFloat<E>) {
    return cast_to<T>(nearby_whole(DLC_LIBM(pow)(double(x), double(y))));
  } else {
    if (is_negative(y)) {
      if constexpr (kIsSigned<T>)
        if (x == T(-1))
          return y % 2 == 0 ? T(1) : T(-1);
      return x == T(1) ? T(1) : T(0);
    }
    T result = T(1), square = x;
    for (; y != E(0); y = E(y / 2)) {
      if (y % 2 != 0)
        result = product(result, square);
      square = product(square, square);
    }
    return result;
  }
}

//===--- Bits -------------------------------------------------------------===//
template <class T> DLC_SCALAR T complement(T x) {
  if constexpr (kIsBool<T>)
    return !x;
  else
    return T(~Unsigned<T>(x));
}
/// A shift by the width of T or more, or by a negative count, moves every bit
/// of x out.
template <class T> DLC_SCALAR bool shifts_all(T count) {
  return is_negative(count) || Unsigned<T>(count) >= Unsigned<T>(kBits<T>);
}

} // namespace dlc::scalar

#undef DLC_LIBM
#undef DLC_INFINITY
