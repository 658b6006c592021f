// SPDX-License-Identifier: Apache-2.0
// Every scalar operation, once: the same text is compiled by the host compiler
// (constant folding, reference, host target) and by NVRTC (emitted kernels), so
// that they cannot differ on NaN, overflow or integer division.
//
// T is float, double, bool or an integer type. Narrower floating-point types
// are storage only: callers widen to float and round what they store. The names
// are those of the field `scalar` in ir/PointwiseOps.td.
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

//===--- Comparison and selection -----------------------------------------===//
template <class T> DLC_SCALAR bool equal(T x, T y) { return x == y; }
template <class T> DLC_SCALAR bool less(T x, T y) { return x < y; }
template <class T> DLC_SCALAR bool less_equal(T x, T y) { return x <= y; }
template <class T> DLC_SCALAR bool is_nan(T x) { return x != x; }
template <class T> DLC_SCALAR bool is_inf(T x) {
  return x == lowest<T>() || x == highest<T>();
}
template <class T> DLC_SCALAR T select(bool condition, T x, T y) {
  return condition ? x : y;
}
/// A total order for sorting: a NaN is above all numbers.
template <class T> DLC_SCALAR bool sorts_before(T x, T y) {
  return x < y || (y != y && x == x);
}

//===--- Arithmetic -------------------------------------------------------===//
template <class T> DLC_SCALAR T add(T x, T y) {
  if constexpr (kIsFloat<T>)
    return x + y;
  else if constexpr (kIsBool<T>)
    return x || y;
  else
    return T(Unsigned<T>(x) + Unsigned<T>(y));
}
template <class T> DLC_SCALAR T sub(T x, T y) {
  if constexpr (kIsFloat<T>)
    return x - y;
  else if constexpr (kIsBool<T>)
    return x != y;
  else
    return T(Unsigned<T>(x) - Unsigned<T>(y));
}
template <class T> DLC_SCALAR T mul(T x, T y) {
  if constexpr (kIsFloat<T>)
    return x * y;
  else if constexpr (kIsBool<T>)
    return x && y;
  else
    return T(Unsigned<T>(x) * Unsigned<T>(y));
}
template <class T> DLC_SCALAR T neg(T x) {
  if constexpr (kIsFloat<T>)
    return -x;
  else
    return sub(T(0), x);
}
template <class T> DLC_SCALAR T div(T x, T y) {
  if constexpr (kIsFloat<T>) {
    return x / y;
  } else if constexpr (kIsBool<T>) {
    return x && y;
  } else {
    if (y == T(0))
      return T(0);
    if constexpr (kIsSigned<T>)
      if (y == T(-1)) // lowest / -1 would trap
        return neg(x);
    return T(x / y);
  }
}
template <class T> DLC_SCALAR T rem(T x, T y) {
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
template <class T> DLC_SCALAR T mod(T x, T y) {
  T r = rem(x, y);
  if constexpr (kIsFloat<T> || kIsSigned<T>) {
    if (r != T(0) && (r < T(0)) != (y < T(0)))
      return add(r, y);
    if constexpr (kIsFloat<T>)
      if (r == T(0)) // a zero has the divisor's sign, too
        return y < T(0) ? -T(0) : T(0);
  }
  return r;
}
// A comparison with a NaN is false, which picks y; so only x needs a test.
template <class T> DLC_SCALAR T max(T x, T y) {
  if constexpr (kIsFloat<T>)
    return x > y || x != x ? x : y;
  else
    return x > y ? x : y;
}
template <class T> DLC_SCALAR T min(T x, T y) {
  if constexpr (kIsFloat<T>)
    return x < y || x != x ? x : y;
  else
    return x < y ? x : y;
}
template <class T> DLC_SCALAR T relu(T x) { return is_negative(x) ? T(0) : x; }
template <class T> DLC_SCALAR T abs(T x) {
  if constexpr (kIsFloat<T>) {
    if constexpr (sizeof(T) == 4)
      return DLC_LIBM(fabsf)(x);
    else
      return DLC_LIBM(fabs)(x);
  } else {
    return is_negative(x) ? neg(x) : x;
  }
}
template <class T> DLC_SCALAR T sign(T x) {
  if (x != x)
    return x;
  return x > T(0) ? T(1) : is_negative(x) ? T(-1) : T(0);
}

//===--- Functions of floating-point numbers ------------------------------===//
#define DLC_FLOAT_FUNCTION(name, libm)                                         \
  template <class T> DLC_SCALAR T name(T x) {                                  \
    static_assert(kIsFloat<T>, #name " is for floating-point types");          \
    if constexpr (sizeof(T) == 4)                                              \
      return DLC_LIBM(libm##f)(x);                                             \
    else                                                                       \
      return DLC_LIBM(libm)(x);                                                \
  }
DLC_FLOAT_FUNCTION(floor, floor)
DLC_FLOAT_FUNCTION(ceil, ceil)
DLC_FLOAT_FUNCTION(round, rint) // halves to even
DLC_FLOAT_FUNCTION(sqrt, sqrt)
DLC_FLOAT_FUNCTION(exp, exp)
DLC_FLOAT_FUNCTION(expm1, expm1)
DLC_FLOAT_FUNCTION(log, log)
DLC_FLOAT_FUNCTION(log1p, log1p)
DLC_FLOAT_FUNCTION(erf, erf)
DLC_FLOAT_FUNCTION(tanh, tanh)
DLC_FLOAT_FUNCTION(sin, sin)
DLC_FLOAT_FUNCTION(cos, cos)
DLC_FLOAT_FUNCTION(tan, tan)
DLC_FLOAT_FUNCTION(asin, asin)
DLC_FLOAT_FUNCTION(acos, acos)
DLC_FLOAT_FUNCTION(atan, atan)
DLC_FLOAT_FUNCTION(sinh, sinh)
DLC_FLOAT_FUNCTION(cosh, cosh)
DLC_FLOAT_FUNCTION(asinh, asinh)
DLC_FLOAT_FUNCTION(acosh, acosh)
DLC_FLOAT_FUNCTION(atanh, atanh)
#undef DLC_FLOAT_FUNCTION

template <class T> DLC_SCALAR T reciprocal(T x) { return T(1) / x; }
template <class T> DLC_SCALAR T rsqrt(T x) { return T(1) / sqrt(x); }
/// exp(-x) that overflows gives 0, one that underflows gives 1.
template <class T> DLC_SCALAR T sigmoid(T x) { return T(1) / (T(1) + exp(-x)); }

//===--- Element types ----------------------------------------------------===//
/// Float to integer truncates and saturates, NaN gives 0; integer to narrower
/// integer wraps; to bool: is it not zero.
template <class To, class From> DLC_SCALAR To cast(From x) {
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

/// x to the power of y in x's type. Integers wrap; an integer to a negative
/// integer power is the truncated quotient, 0 for the base 0.
template <class T, class E> DLC_SCALAR T pow(T x, E y) {
  if constexpr (kIsFloat<T>) {
    if constexpr (sizeof(T) == 4)
      return DLC_LIBM(powf)(x, float(y));
    else
      return DLC_LIBM(pow)(x, double(y));
  } else if constexpr (kIsFloat<E>) {
    return cast<T>(DLC_LIBM(pow)(double(x), double(y)));
  } else {
    if (is_negative(y)) {
      if constexpr (kIsSigned<T>)
        if (x == T(-1))
          return y % 2 == 0 ? T(1) : T(-1);
      return x == T(1) ? T(1) : T(0);
    }
    T power = T(1), square = x;
    for (; y != E(0); y = E(y / 2)) {
      if (y % 2 != 0)
        power = mul(power, square);
      square = mul(square, square);
    }
    return power;
  }
}

//===--- Bits -------------------------------------------------------------===//
template <class T> DLC_SCALAR T bit_and(T x, T y) { return T(x & y); }
template <class T> DLC_SCALAR T bit_or(T x, T y) { return T(x | y); }
template <class T> DLC_SCALAR T bit_xor(T x, T y) { return T(x ^ y); }
template <class T> DLC_SCALAR T bit_not(T x) {
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
template <class T> DLC_SCALAR T shift_left(T x, T y) {
  return shifts_all(y) ? T(0) : T(Unsigned<T>(x) << Unsigned<T>(y));
}
/// Copies of the sign come in from above.
template <class T> DLC_SCALAR T shift_right(T x, T y) {
  if (shifts_all(y))
    return is_negative(x) ? T(-1) : T(0);
  return T(x >> y);
}

} // namespace dlc::scalar

#undef DLC_LIBM
#undef DLC_INFINITY
