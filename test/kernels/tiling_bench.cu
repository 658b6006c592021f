// SPDX-License-Identifier: Apache-2.0
// Convolutions with constant shapes, as the emitters print them; tiling_bench
// writes the instantiations (BENCH) below this text.
#include "dlc/contraction.cuh"
using namespace dlc::dev;
using Index = int32_t;
struct P {
  void *buffer[4]; // x [N][H][W][C], w [K][R][R][C], y [N][H'][W'][K], bias
};
template <class In_, int V, int VC, int N, int H, int C, int K, int R,
          int stride>
struct Conv {
  using In = In_;
  using Acc = float;
  static constexpr int Q = (H - 1) / stride + 1;
  static DLC_DEVICE Index batch(const P &) { return 1; }
  static DLC_DEVICE Index m(const P &) { return N * Q * Q; }
  static DLC_DEVICE Index n(const P &) { return K; }
  static DLC_DEVICE Index k(const P &) { return R * R * C; }
  static constexpr int kVectorA = V, kVectorB = V, kVectorC = VC;
  static constexpr bool kTransposedB = false, kConstantB = true,
                        kStoreAlongM = false;
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
  static DLC_DEVICE void apply(const P &p, Index, Index m, Index n,
                               const Acc (&v)[L]) {
    const auto bias = ldcv<L>(static_cast<const float *>(p.buffer[3]), n);
    Vec<Acc, L> r;
    for (int i = 0; i < L; i++) {
      r[i] = v[i] + bias[i];
      r[i] = r[i] > 0 ? r[i] : 0;
    }
    stv<L>(static_cast<In *>(p.buffer[2]), m * K + n, convert_vec<In>(r));
  }
};
#define BENCH(name, threads, In, V, VC, N, H, C, K, R, S, ...)                 \
  DLC_KERNEL(name, P, threads, 1, 0) {                                         \
    ContractionTile<Conv<In, V, VC, N, H, C, K, R, S>, __VA_ARGS__>::run(      \
        p, blockIdx.x, smem);                                                  \
  }
