// SPDX-License-Identifier: Apache-2.0
// Vectors that are loaded long before they are used: fetch<V>(p, i) and, for
// constant memory, fetch_weight<V>(p, i) give Lanes<T, V>, which hold the words
// as they came and widen an element where it is asked for.
#pragma once
#include "dlc/memory.cuh"

namespace dlc::dev {
template <class T, int V> struct Lanes {
  // Not a Vec: its elements would get a register each.
  static constexpr int kBytes = V * int(sizeof(T));
  static constexpr bool kPacked = sizeof(T) <= 2 && kBytes % 4 == 0;
  using Word = typename WordOf<kPacked ? 4 : int(sizeof(T))>::Type;
  Word words[kPacked ? kBytes / 4 : V];

  DLC_DEVICE T stored(int e) const {
    if constexpr (kPacked) {
      constexpr int kPer = 4 / int(sizeof(T));
      return bits_as<T>(typename WordOf<int(sizeof(T))>::Type(
          words[e / kPer] >> e % kPer * 8 * int(sizeof(T))));
    } else
      return bits_as<T>(words[e]);
  }
  DLC_DEVICE Compute<T> operator[](int e) const {
    return convert<Compute<T>>(stored(e));
  }
};
template <int V, class T, class I>
DLC_DEVICE Lanes<T, V> fetch(const T *p, I i) {
  return bits_as<Lanes<T, V>>(ldv<V>(p, i));
}
template <int V, class T, class I>
DLC_DEVICE Lanes<T, V> fetch_weight(const T *p, I i) {
  return bits_as<Lanes<T, V>>(ldcv<V>(p, i));
}
} // namespace dlc::dev
