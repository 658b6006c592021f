// SPDX-License-Identifier: Apache-2.0
// Sliding windows: pooling, depthwise and direct grouped convolution, any
// layout. One thread computes kVector consecutive elements of the output (in
// memory order) tap by tap.
//
// An emitted kernel, here a channels-last depthwise 3x3, stride 2, pad 1, with
// bias and relu (x [N][H][W][C], weights [3][3][C], y [N][P][Q][C]):
//
//   #include "dlc/window.cuh"
//   using namespace dlc::dev;
//   using Index = int32_t;
//   struct P { void *buffer[4]; int64_t symbol[1]; };
//   struct Window {
//     using Acc = float;               // what a tap adds to; may be a struct
//     static constexpr int kVector = 8;          // elements of a thread
//     static constexpr int kTaps = 9;            // 0: not a constant
//     static DLC_DEVICE Index taps(const P &) { return 9; }
//     static DLC_DEVICE Index size(const P &p) {   // elements of the output,
//       return Index(p.symbol[0]) * 56 * 56 * 96;  // divides by kVector
//     }
//     // What is the same for all taps of output elements i .. i + kVector - 1.
//     struct Point {
//       Index image, y, x, c;
//       DLC_DEVICE Point(const P &, Index i)
//           : image(i / (56 * 56 * 96)), y(i / (56 * 96) % 56 * 2 - 1),
//             x(i / 96 % 56 * 2 - 1), c(i % 96) {}
//     };
//     static DLC_DEVICE Acc init() { return 0; }
//     // Taps come in order; one that lies outside does nothing.
//     template <int V>
//     static DLC_DEVICE void tap(const P &p, const Point &q, Index t,
//                                Acc (&acc)[V]) {
//       const Index y = q.y + t / 3, x = q.x + t % 3;
//       if (y < 0 || y >= 112 || x < 0 || x >= 112)
//         return;
//       const auto a = convert_vec<float>(
//           ldv<V>((const half_t *)p.buffer[0],
//                  ((q.image * 112 + y) * 112 + x) * 96 + q.c));
//       const auto w = convert_vec<float>(
//           ldcv<V>((const half_t *)p.buffer[1], t * 96 + q.c));
//       for (int v = 0; v < V; v++)
//         acc[v] = fmaf(a[v], w[v], acc[v]);
//     }
//     template <int V>
//     static DLC_DEVICE void apply(const P &p, const Point &q, Index i,
//                                  const Acc (&acc)[V]) { ... stv<V>(...) }
//   };
//   DLC_KERNEL(dlc_depthwise_..., P, 256, 1, 0) { WindowTile<Window>::run(p); }
//
// Any grid is correct; ceil(size / (256 kVector)) blocks give each thread one
// step. Pooling: max starts at scalar::lowest<float>() and combines with
// scalar::max (NaN wins); average keeps a sum and divides in apply by the
// cells that it counts from Point.
#pragma once
#include "dlc/kernel.cuh"

namespace dlc::dev {
template <class Window> struct WindowTile {
  static constexpr int V = Window::kVector;
  /// More taps than this stay a loop.
  static constexpr int kMaxUnrolled = 32;

  template <class P> static DLC_DEVICE void run(const P &p) {
    using Acc = typename Window::Acc;
    using Index = decltype(Window::size(p));
    pdl_wait();
    for_each_index<V>(Window::size(p), [&](Index i) {
      const typename Window::Point point(p, i);
      Acc acc[V];
      DLC_UNROLL
      for (int v = 0; v < V; v++)
        acc[v] = Window::init();
      if constexpr (Window::kTaps > 0 && Window::kTaps <= kMaxUnrolled) {
        DLC_UNROLL
        for (int t = 0; t < Window::kTaps; t++)
          Window::template tap<V>(p, point, Index(t), acc);
      } else {
        const Index taps = Window::taps(p);
        for (Index t = 0; t < taps; t++)
          Window::template tap<V>(p, point, t, acc);
      }
      Window::template apply<V>(p, point, i, acc);
    });
    pdl_launch();
  }
};
} // namespace dlc::dev
