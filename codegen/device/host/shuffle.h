// SPDX-License-Identifier: Apache-2.0
// Host twin of ptx/shuffle.cuh: one rendezvous for each exchange.
#pragma once
#include "dlc/host/cuda.h"

namespace dlc::dev {
DLC_DEVICE int lane_id() { return int(::dlc::host::self()->lane); }
DLC_DEVICE int warp_id() { return int(::dlc::host::self()->id / 32); }
namespace twin {
template <class T> struct Shuffle {
  T in, out;
  int from;
};
template <class T> void shuffleOp(void *const *lanes, uint32_t mask) {
  for (int l = 0; l < 32; l++) {
    if (!(mask >> l & 1))
      continue;
    auto *s = static_cast<Shuffle<T> *>(lanes[l]);
    if (!(mask >> s->from & 1))
      ::dlc::host::engine->fail("shuffle reads lane %d, which takes no part",
                                s->from);
    s->out = static_cast<Shuffle<T> *>(lanes[s->from])->in;
  }
}
template <class T> DLC_DEVICE T shuffle(T v, int from) {
  Shuffle<T> s{v, v, from};
  ::dlc::host::engine->warpCollective(~0u, shuffleOp<T>, &s);
  return s.out;
}
} // namespace twin
template <class T> DLC_DEVICE T shfl_xor(T v, int mask) {
  return twin::shuffle(v, lane_id() ^ mask);
}
template <class T> DLC_DEVICE T shfl(T v, int lane) {
  return twin::shuffle(v, lane & 31);
}
template <class T> DLC_DEVICE T shfl_down(T v, int by) {
  const int l = lane_id();
  return twin::shuffle(v, l + by < 32 ? l + by : l);
}
DLC_DEVICE uint32_t ballot(bool p) {
  struct A {
    bool p;
    uint32_t out;
  } a{p, 0};
  ::dlc::host::engine->warpCollective(
      ~0u,
      [](void *const *l, uint32_t mask) {
        uint32_t r = 0;
        for (int i = 0; i < 32; i++)
          if (mask >> i & 1 && static_cast<A *>(l[i])->p)
            r |= 1u << i;
        for (int i = 0; i < 32; i++)
          if (mask >> i & 1)
            static_cast<A *>(l[i])->out = r;
      },
      &a);
  return a.out;
}
} // namespace dlc::dev
