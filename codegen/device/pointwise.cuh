// SPDX-License-Identifier: Apache-2.0
// Loop fusions: every thread computes kVector elements of the iteration space
// at a time.
//
//   struct Body {
//     static constexpr int kVector;
//     static Index size(const P &);                 // elements
//     template <int V> static void apply(const P &, Index i);
//   };                                              // elements i .. i + V - 1
#pragma once
#include "dlc/fusion.cuh"

namespace dlc::dev {
template <class Body, class Index, class P>
DLC_DEVICE void pointwise(const P &p) {
  pdl_launch();
  pdl_wait();
  const Index n = Body::size(p);
  constexpr int V = Body::kVector;
  for_each_index<V, Index>(n, [&](Index i) {
    if (V == 1 || i + V <= n)
      Body::template apply<V>(p, i);
    else
      for (; i < n; i++)
        Body::template apply<1>(p, i);
  });
}
} // namespace dlc::dev
