// SPDX-License-Identifier: Apache-2.0
// Functors as the emitters print them, with types and vectors as parameters:
// a batched matmul with bias and relu, and a channels-last convolution with
// bias, residual and relu.
#pragma once
#include "dlc/contraction.cuh"

namespace test {
using namespace dlc::dev;
using Index = int32_t;
struct MatmulP {
  void *buffer[6]; // A[b][m][k] B[b][n][k] or [b][k][n] C bias ws counters
  int64_t symbol[4]; // batch m n k
};
template <class In_, class Acc_, class Out, int VA, int VB, bool TB, int VC>
struct Matmul {
  using In = In_;
  using Acc = Acc_;
  static DLC_DEVICE Index batch(const MatmulP &p) { return Index(p.symbol[0]); }
  static DLC_DEVICE Index m(const MatmulP &p) { return Index(p.symbol[1]); }
  static DLC_DEVICE Index n(const MatmulP &p) { return Index(p.symbol[2]); }
  static DLC_DEVICE Index k(const MatmulP &p) { return Index(p.symbol[3]); }
  static constexpr int kVectorA = VA, kVectorB = VB, kVectorC = VC;
  static constexpr bool kTransposedB = TB, kConstantB = VB > 1,
                        kStoreAlongM = false;
  struct RowA {
    Index at;
    DLC_DEVICE RowA(const MatmulP &p, Index b, Index row)
        : at((b * m(p) + row) * k(p)) {}
  };
  struct RowB {
    Index at;
    DLC_DEVICE RowB(const MatmulP &p, Index b, Index row)
        : at(TB ? (b * k(p) + row) * n(p) : (b * n(p) + row) * k(p)) {}
  };
  static DLC_DEVICE const In *address(const MatmulP &p, const RowA &r,
                                      Index i) {
    return static_cast<const In *>(p.buffer[0]) + r.at + i;
  }
  static DLC_DEVICE const In *address(const MatmulP &p, const RowB &r,
                                      Index i) {
    return static_cast<const In *>(p.buffer[1]) + r.at + i;
  }
  static DLC_DEVICE In value(const MatmulP &p, const RowA &r, Index i) {
    return ld(static_cast<const In *>(p.buffer[0]), r.at + i);
  }
  static DLC_DEVICE In value(const MatmulP &p, const RowB &r, Index i) {
    return ld(static_cast<const In *>(p.buffer[1]), r.at + i);
  }
  template <int V>
  static DLC_DEVICE void apply(const MatmulP &p, Index b, Index row, Index col,
                               const Acc (&v)[V]) {
    const auto bias = ldv<V>(static_cast<const Acc *>(p.buffer[3]), col);
    Vec<Acc, V> r;
    for (int i = 0; i < V; i++) {
      r[i] = v[i] + bias[i];
      r[i] = r[i] > Acc(0) ? r[i] : Acc(0);
    }
    stv<V>(static_cast<Out *>(p.buffer[2]), (b * m(p) + row) * n(p) + col,
           convert_vec<Out>(r));
  }
  static DLC_DEVICE Acc *workspace(const MatmulP &p) {
    return static_cast<Acc *>(p.buffer[4]);
  }
  static DLC_DEVICE int32_t *counters(const MatmulP &p) {
    return static_cast<int32_t *>(p.buffer[5]);
  }
};

struct ConvP {
  void *buffer[5];    // x[N][H][W][C] w[K][R][S][C] y bias residual
  int64_t symbol[10]; // N H W C K R S stride pad dilation
};
template <class In_, class Acc_, int VA, int VC, bool AlongM> struct Conv {
  using In = In_;
  using Acc = Acc_;
  static DLC_DEVICE Index get(const ConvP &p, int i) {
    return Index(p.symbol[i]);
  }
  static DLC_DEVICE Index out(const ConvP &p, Index in, Index r) {
    return (in + 2 * get(p, 8) - get(p, 9) * (r - 1) - 1) / get(p, 7) + 1;
  }
  static DLC_DEVICE Index height(const ConvP &p) {
    return out(p, get(p, 1), get(p, 5));
  }
  static DLC_DEVICE Index width(const ConvP &p) {
    return out(p, get(p, 2), get(p, 6));
  }
  static DLC_DEVICE Index batch(const ConvP &) { return 1; }
  static DLC_DEVICE Index m(const ConvP &p) {
    return get(p, 0) * height(p) * width(p);
  }
  static DLC_DEVICE Index n(const ConvP &p) { return get(p, 4); }
  static DLC_DEVICE Index k(const ConvP &p) {
    return get(p, 5) * get(p, 6) * get(p, 3);
  }
  static constexpr int kVectorA = VA, kVectorB = VA, kVectorC = VC;
  static constexpr bool kTransposedB = false, kConstantB = true,
                        kStoreAlongM = AlongM;
  struct RowA {
    Index image, y, x;
    DLC_DEVICE RowA(const ConvP &p, Index, Index row) {
      const Index w = width(p), hw = height(p) * w;
      image = row / hw;
      y = row % hw / w * get(p, 7) - get(p, 8);
      x = row % w * get(p, 7) - get(p, 8);
    }
  };
  struct RowB {
    Index at;
    DLC_DEVICE RowB(const ConvP &p, Index, Index row) : at(row * k(p)) {}
  };
  static DLC_DEVICE const In *address(const ConvP &p, const RowA &a, Index i) {
    const Index C = get(p, 3), c = i % C, s = i / C % get(p, 6),
                r = i / C / get(p, 6);
    const Index y = a.y + r * get(p, 9), x = a.x + s * get(p, 9);
    if (y < 0 || y >= get(p, 1) || x < 0 || x >= get(p, 2))
      return nullptr;
    return static_cast<const In *>(p.buffer[0]) +
           ((a.image * get(p, 1) + y) * get(p, 2) + x) * C + c;
  }
  static DLC_DEVICE In value(const ConvP &p, const RowA &a, Index i) {
    const In *q = address(p, a, i);
    return q ? ld(q, 0) : In{};
  }
  static DLC_DEVICE const In *address(const ConvP &p, const RowB &b, Index i) {
    return static_cast<const In *>(p.buffer[1]) + b.at + i;
  }
  static DLC_DEVICE In value(const ConvP &p, const RowB &b, Index i) {
    return ld(address(p, b, i), 0);
  }
  template <int V>
  static DLC_DEVICE void apply(const ConvP &p, Index, Index row, Index col,
                               const Acc (&v)[V]) {
    const Index hw = height(p) * width(p), N = n(p);
    const Index at = AlongM ? (row / hw * N + col) * hw + row % hw
                            : row * N + col;
    const auto bias = ldcv<V>(static_cast<const Acc *>(p.buffer[3]), col);
    const auto residual = convert_vec<Acc>(
        ldv<V>(static_cast<const In *>(p.buffer[4]), at));
    Vec<Acc, V> r;
    for (int i = 0; i < V; i++) {
      r[i] = v[i] + bias[i] + residual[i];
      r[i] = r[i] > Acc(0) ? r[i] : Acc(0);
    }
    stv<V>(static_cast<In *>(p.buffer[2]), at, convert_vec<In>(r));
  }
};
} // namespace test
