// SPDX-License-Identifier: Apache-2.0
// Convolutions with constant shapes, as the emitters print them; tiling_bench
// writes the instantiations (BENCH, BENCH_TMA) below this text.
#include "dlc/contraction.cuh"
#include "dlc/contraction_tma.cuh"
#include "dlc/lanes.cuh"
using namespace dlc::dev;
using Index = int32_t;
struct P {
  CUtensorMap map[2];
  // x [N][H][W][C], w [K][R][R][C], y [N][H'][W'][K], bias, residual as y
  void *buffer[5];
};
/// What both templates share. res: 1 adds a residual.
template <class In_, int VC, int N, int H, int C, int K, int R, int stride,
          int res>
struct Shape {
  using In = In_;
  using Acc = float;
  static constexpr int Q = (H - 1) / stride + 1;
  static DLC_DEVICE Index batch(const P &) { return 1; }
  static DLC_DEVICE Index m(const P &) { return N * Q * Q; }
  static DLC_DEVICE Index n(const P &) { return K; }
  static DLC_DEVICE Index k(const P &) { return R * R * C; }
  static constexpr int kVectorC = VC;
  static constexpr bool kConstantB = true;
  template <int L>
  static DLC_DEVICE auto prepare(const P &p, Index, Index m, Index n) {
    const auto bias = ldcv<L>(static_cast<const float *>(p.buffer[3]), n);
    Lanes<In, L> residual{};
    if constexpr (res)
      residual = fetch<L>(static_cast<const In *>(p.buffer[4]), m * K + n);
    return [=, &p](const Acc(&v)[L]) {
      Vec<Acc, L> r;
      for (int i = 0; i < L; i++) {
        r[i] = v[i] + bias[i] + residual[i];
        r[i] = r[i] > 0 ? r[i] : 0;
      }
      stv<L>(static_cast<In *>(p.buffer[2]), m * K + n, convert_vec<In>(r));
    };
  }
};
template <class In_, int V, int VC, int N, int H, int C, int K, int R,
          int stride, int res>
struct Conv : Shape<In_, VC, N, H, C, K, R, stride, res> {
  using In = In_;
  using Base = Shape<In_, VC, N, H, C, K, R, stride, res>;
  static constexpr int Q = Base::Q;
  static constexpr int kVectorA = V, kVectorB = V;
  static constexpr bool kTransposedB = false, kStoreAlongM = false;
  struct RowA {
    Index image, y, x;
    DLC_DEVICE RowA(const P &, Index, Index r)
        : image(r / (Q * Q)), y(r / Q % Q * stride - R / 2),
          x(r % Q * stride - R / 2) {}
  };
  struct RowB {
    Index at;
    DLC_DEVICE RowB(const P &, Index, Index r) : at(r * R * R * C) {}
  };
  static DLC_DEVICE const In *address(const P &p, const RowA &a, Index i) {
    const Index c = i % C, s = i / C % R, r = i / C / R, y = a.y + r,
                x = a.x + s;
    if (R > 1 && (y < 0 || y >= H || x < 0 || x >= H))
      return nullptr;
    return static_cast<const In *>(p.buffer[0]) +
           ((a.image * H + y) * H + x) * C + c;
  }
  static DLC_DEVICE const In *address(const P &p, const RowB &b, Index i) {
    return static_cast<const In *>(p.buffer[1]) + b.at + i;
  }
  static DLC_DEVICE In value(const P &p, const RowA &a, Index i) {
    const In *q = address(p, a, i);
    return q ? ld(q, 0) : In{};
  }
  static DLC_DEVICE In value(const P &p, const RowB &b, Index i) {
    return ld(address(p, b, i), 0);
  }
  template <int L>
  static DLC_DEVICE void apply(const P &p, Index b, Index m, Index n,
                               const typename Base::Acc (&v)[L]) {
    Base::template prepare<L>(p, b, m, n)(v);
  }
};
template <class In_, int VC, int N, int H, int C, int K, int R, int stride,
          int res>
struct TmaConv : Shape<In_, VC, N, H, C, K, R, stride, res> {
  static constexpr bool kDense = R == 1 && stride == 1;
  static constexpr Source kSourceA = kDense ? Source::Rows : Source::Window;
  static constexpr Source kSourceB = kDense ? Source::Rows : Source::Taps;
  static constexpr int Q = (H - 1) / stride + 1;
  static DLC_DEVICE Window window(const P &) {
    return {Q, Q, stride, stride, R / 2, R / 2, 1, 1, R, R * R, C};
  }
};
#define BENCH(name, In, V, VC, N, H, C, K, R, S, res, threads, blocks, ...)    \
  DLC_KERNEL(name, P, threads, blocks, 0) {                                    \
    ContractionTile<Conv<In, V, VC, N, H, C, K, R, S, res>, __VA_ARGS__>::run( \
        p, blockIdx.x, smem);                                                  \
  }
#define BENCH_TMA(name, In, V, VC, N, H, C, K, R, S, res, threads, blocks,     \
                  ...)                                                         \
  DLC_KERNEL(name, P, threads, blocks, 0) {                                    \
    TmaContraction<TmaConv<In, VC, N, H, C, K, R, S, res>, __VA_ARGS__>::run(  \
        p, blockIdx.x, smem);                                                  \
  }
