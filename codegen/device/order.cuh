// SPDX-License-Identifier: Apache-2.0
// Order of elements for arg_reduce and topk: semantics.md's NaN and tie rules.
#pragma once
#include "dlc/kernel.cuh"
#include "dlc/reduce.cuh"
#include "dlc/scalar.cuh"

namespace dlc::dev {
/// Does value a come before b? A NaN comes before every number.
template <bool kLargest, class V> DLC_DEVICE bool before(V a, V b) {
  if (a != a || b != b)
    return a != a && b == b;
  return kLargest ? a > b : a < b;
}

/// Does a come before b where elements are sorted? A NaN is above all numbers.
template <bool kLargest, class V> DLC_DEVICE bool sorted_before(V a, V b) {
  return kLargest ? scalar::sorts_before(b, a) : scalar::sorts_before(a, b);
}

/// An element and where it was; index -1 for none.
template <class V> struct Candidate {
  V value;
  int64_t index;
};

/// The earlier one in the order of before (or of sorted_before); ties go to the
/// lower (or the higher) index.
template <bool kLargest, bool kSelectLast = false, bool kSorted = false>
struct Earlier {
  template <class V> static DLC_DEVICE bool first(V a, V b) {
    return kSorted ? sorted_before<kLargest>(a, b) : before<kLargest>(a, b);
  }
  template <class V>
  static DLC_DEVICE Candidate<V> apply(const Candidate<V> &a,
                                       const Candidate<V> &b) {
    if (a.index < 0 || b.index < 0)
      return a.index < 0 ? b : a;
    if (first(a.value, b.value))
      return a;
    if (first(b.value, a.value))
      return b;
    return (a.index < b.index) != kSelectLast ? a : b;
  }
};
} // namespace dlc::dev
