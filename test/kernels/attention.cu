// SPDX-License-Identifier: Apache-2.0
// Kernels of attention_cases.def, with functors as the emitter prints them.
#include "dlc/attention.cuh"

namespace test {
using namespace dlc::dev;
using Index = int32_t;
struct AttentionP {
  void *buffer[5];   // Q[b][m][] K[b][n][] V[b][n][] bias[b][m][n] D[b][m][]
  int64_t symbol[3]; // batch m n
};
template <class In_, int Depth, int Width, int VQ, int VK, int VV, int VB,
          int VC, bool NanRowsZero>
struct Problem {
  using In = In_;
  using P = AttentionP;
  static constexpr int kDepth = Depth, kWidth = Width, kVectorQ = VQ,
                       kVectorK = VK, kVectorV = VV, kVectorBias = VB,
                       kVectorC = VC;
  static constexpr float kScale = 0.25f;
  static constexpr bool kNanRowsZero = NanRowsZero;
  static DLC_DEVICE Index batch(const P &p) { return Index(p.symbol[0]); }
  static DLC_DEVICE Index m(const P &p) { return Index(p.symbol[1]); }
  static DLC_DEVICE Index n(const P &p) { return Index(p.symbol[2]); }
  struct RowQ {
    Index at;
    DLC_DEVICE RowQ(const P &p, Index b, Index row)
        : at((b * m(p) + row) * Depth) {}
  };
  struct RowK {
    Index at;
    DLC_DEVICE RowK(const P &p, Index b, Index row)
        : at((b * n(p) + row) * Depth) {}
  };
  struct RowV {
    Index at;
    DLC_DEVICE RowV(const P &p, Index b, Index row)
        : at((b * n(p) + row) * Width) {}
  };
  template <int I> static DLC_DEVICE const In *base(const P &p) {
    return static_cast<const In *>(p.buffer[I]);
  }
#define ROWS(Row, I)                                                           \
  static DLC_DEVICE const In *address(const P &p, const Row &r, Index k) {     \
    return base<I>(p) + r.at + k;                                              \
  }                                                                            \
  static DLC_DEVICE In value(const P &p, const Row &r, Index k) {              \
    return ld(base<I>(p), r.at + k);                                           \
  }
  ROWS(RowQ, 0)
  ROWS(RowK, 1)
  ROWS(RowV, 2)
  static DLC_DEVICE void bias(const P &p, Index b, Index row, Index column,
                              float (&out)[(VB > 0 ? VB : 1)]) {
    constexpr int V = VB > 0 ? VB : 1;
    const Vec<float, V> v = ldv<V>(static_cast<const float *>(p.buffer[3]),
                                   (b * m(p) + row) * n(p) + column);
    for (int e = 0; e < VB; e++)
      out[e] = v[e];
  }
  template <int V>
  static DLC_DEVICE void apply(const P &p, Index b, Index row, Index column,
                               const float (&v)[V]) {
    Vec<In, V> y;
    for (int e = 0; e < V; e++)
      y[e] = convert<In>(v[e]);
    stv<V>(static_cast<In *>(p.buffer[4]), (b * m(p) + row) * Width + column,
           y);
  }
};
} // namespace test

using namespace dlc::dev;
#if defined(DLC_HOST) || __CUDA_ARCH__ >= 800
template <class In> constexpr bool kRuns = true;
#else
template <class In> constexpr bool kRuns = kSame<In, half_t>;
#endif
#define ATTENTION(name, In, D, W, VQ, VK, VV, VB, VC, Zero, WM, WN, BN, ST)    \
  DLC_KERNEL(name, test::AttentionP, 32 * WM * WN, 1, 0) {                     \
    if constexpr (kRuns<In>)                                                   \
      AttentionTile<test::Problem<In, D, W, VQ, VK, VV, VB, VC, Zero>,         \
                    AttentionConfig<WM, WN, BN, ST>>::run(p, blockIdx.x,       \
                                                          smem);               \
  }
#include "attention_cases.def"
