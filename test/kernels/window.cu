// SPDX-License-Identifier: Apache-2.0
// Kernels of window_cases.def, with functors as the emitters print them.
#include "dlc/scalar.cuh"
#include "dlc/window.cuh"
using namespace dlc::dev;
using Index = int32_t;
struct WindowP {
  void *buffer[3];   // x, y, weights [R][S][C]
  int64_t symbol[6]; // N C H W P Q
};
enum Kind { Max, Average, Depthwise };
template <Kind K, class In, int VV, bool Last, int R, int S, int stride,
          int pad, int dilation>
struct Window {
  using Acc = float;
  static constexpr int kVector = VV, kTaps = R * S;
  static DLC_DEVICE Index get(const WindowP &p, int i) {
    return Index(p.symbol[i]);
  }
  static DLC_DEVICE Index taps(const WindowP &) { return R * S; }
  static DLC_DEVICE Index size(const WindowP &p) {
    return get(p, 0) * get(p, 1) * get(p, 4) * get(p, 5);
  }
  struct Point {
    Index n, c, y, x;
    DLC_DEVICE Point(const WindowP &p, Index i) {
      const Index C = get(p, 1), H = get(p, 4), W = get(p, 5);
      c = Last ? i % C : i / (H * W) % C;
      x = (Last ? i / C % W : i % W) * stride - pad;
      y = (Last ? i / (C * W) % H : i / W % H) * stride - pad;
      n = i / (C * H * W);
    }
  };
  static DLC_DEVICE Acc init() {
    return K == Max ? dlc::scalar::lowest<float>() : 0.f;
  }
  template <int V>
  static DLC_DEVICE void tap(const WindowP &p, const Point &q, Index t,
                             Acc (&acc)[V]) {
    const Index y = q.y + t / S * dilation, x = q.x + t % S * dilation;
    const Index C = get(p, 1), H = get(p, 2), W = get(p, 3);
    if (y < 0 || y >= H || x < 0 || x >= W)
      return;
    const Index at = Last ? ((q.n * H + y) * W + x) * C + q.c
                          : ((q.n * C + q.c) * H + y) * W + x;
    const auto a =
        convert_vec<float>(ldv<V>(static_cast<const In *>(p.buffer[0]), at));
    Vec<float, V> w{};
    if constexpr (K == Depthwise)
      w = convert_vec<float>(
          ldcv<V>(static_cast<const In *>(p.buffer[2]), t * C + q.c));
    for (int v = 0; v < V; v++)
      acc[v] = K == Max         ? dlc::scalar::max(acc[v], a[v])
               : K == Depthwise ? fmaf(a[v], w[v], acc[v])
                                : acc[v] + a[v];
  }
  template <int V>
  static DLC_DEVICE void apply(const WindowP &p, const Point &q, Index i,
                               const Acc (&acc)[V]) {
    Vec<float, V> r;
    Index cells = 0;
    for (Index t = 0; K == Average && t < R * S; t++) {
      const Index y = q.y + t / S * dilation, x = q.x + t % S * dilation;
      cells += y >= 0 && y < get(p, 2) && x >= 0 && x < get(p, 3);
    }
    for (int v = 0; v < V; v++)
      r[v] = K == Average ? acc[v] / float(cells) : acc[v];
    stv<V>(static_cast<In *>(p.buffer[1]), i, convert_vec<In>(r));
  }
};
#define WINDOW(name, kind, In, V, Last, R, S, stride, pad, dilation)           \
  DLC_KERNEL(name, WindowP, 64, 1, 0) {                                        \
    WindowTile<                                                                \
        Window<kind, In, V, Last, R, S, stride, pad, dilation>>::run(p);       \
  }
#include "window_cases.def"
