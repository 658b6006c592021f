// SPDX-License-Identifier: Apache-2.0
// Functors of contraction_tma.cuh as the emitters print them, with types and
// sizes as parameters: a batched matmul with bias and relu, and a
// channels-last convolution with bias, residual and relu.
#pragma once
#include "dlc/contraction_tma.cuh"
#include "dlc/lanes.cuh"

namespace test {
using namespace dlc::dev;
using Index = int32_t;
struct MatmulP {
  CUtensorMap map[2];
  void *buffer[2];   // C bias
  int64_t symbol[4]; // batch m n k
};
template <class In_, class Out, Source A, Source B, int VC> struct Matmul {
  using In = In_;
  using Acc = float;
  static DLC_DEVICE Index batch(const MatmulP &p) { return Index(p.symbol[0]); }
  static DLC_DEVICE Index m(const MatmulP &p) { return Index(p.symbol[1]); }
  static DLC_DEVICE Index n(const MatmulP &p) { return Index(p.symbol[2]); }
  static DLC_DEVICE Index k(const MatmulP &p) { return Index(p.symbol[3]); }
  static constexpr bool kConstantB = B == Source::Rows;
  static constexpr Source kSourceA = A, kSourceB = B;
  static constexpr int kVectorC = VC;
  template <int V>
  static DLC_DEVICE auto prepare(const MatmulP &p, Index b, Index row,
                                 Index col) {
    const auto bias = ldcv<V>(static_cast<const float *>(p.buffer[1]), col);
    return [=, &p](const float(&v)[V]) {
      Vec<float, V> r;
      for (int i = 0; i < V; i++) {
        r[i] = v[i] + bias[i];
        r[i] = r[i] > 0 ? r[i] : 0;
      }
      stv<V>(static_cast<Out *>(p.buffer[0]), (b * m(p) + row) * n(p) + col,
             convert_vec<Out>(r));
    };
  }
};

struct ConvP {
  CUtensorMap map[2];
  void *buffer[3];    // y bias residual
  int64_t symbol[11]; // N P Q K R S C stride padY padX dilation
};
template <class In_, int VC> struct Conv {
  using In = In_;
  using Acc = float;
  static DLC_DEVICE Index get(const ConvP &p, int i) {
    return Index(p.symbol[i]);
  }
  static DLC_DEVICE Index batch(const ConvP &) { return 1; }
  static DLC_DEVICE Index m(const ConvP &p) {
    return get(p, 0) * get(p, 1) * get(p, 2);
  }
  static DLC_DEVICE Index n(const ConvP &p) { return get(p, 3); }
  static DLC_DEVICE Index k(const ConvP &p) {
    return get(p, 4) * get(p, 5) * get(p, 6);
  }
  static constexpr bool kConstantB = true;
  static constexpr Source kSourceA = Source::Window, kSourceB = Source::Taps;
  static DLC_DEVICE Window window(const ConvP &p) {
    return {get(p, 2), get(p, 1),  get(p, 7),  get(p, 7), get(p, 9),
            get(p, 8), get(p, 10), get(p, 10), get(p, 5), get(p, 4) * get(p, 5),
            get(p, 6)};
  }
  static constexpr int kVectorC = VC;
  template <int V>
  static DLC_DEVICE auto prepare(const ConvP &p, Index, Index row, Index col) {
    const Index at = row * n(p) + col;
    const auto bias = ldcv<V>(static_cast<const float *>(p.buffer[1]), col);
    const auto residual = fetch<V>(static_cast<const In *>(p.buffer[2]), at);
    return [=, &p](const float(&v)[V]) {
      Vec<float, V> r;
      for (int i = 0; i < V; i++) {
        r[i] = v[i] + bias[i] + residual[i];
        r[i] = r[i] > 0 ? r[i] : 0;
      }
      stv<V>(static_cast<In *>(p.buffer[0]), at, convert_vec<In>(r));
    };
  }
};
} // namespace test
