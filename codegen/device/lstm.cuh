// SPDX-License-Identifier: Apache-2.0
// LSTM over a whole sequence. One block per (direction, sequence of the batch):
// it keeps h and c in shared memory and walks the time steps.
//
//   struct Problem {
//     using T = float;                       // x, w, r, results
//     using Index = int32_t;
//     static constexpr int kVectorX, kVectorH;  // elements of a weight row that are
//                                            // aligned to 16 bytes together, or 1
//     static constexpr bool kInputForget = false;
//     static constexpr float kClip = 0;      // 0: none
//     static Index steps(p), batch(p), inputs(p), hidden(p), directions(p);
//     static bool reversed(int direction);
//     static float f(int direction, float), g(int, float), h(int, float);
//     static const T *x(p), *w(p), *r(p);    // [S][B][I], [D][4H][I], [D][4H][H]
//     static const T *bias(p), *initialH(p), *initialC(p), *peephole(p); // or null
//     static int64_t length(p, Index b);     // steps of sequence b
//     static T *y(p), *yH(p), *yC(p);        // or null
//   };
//   lstm<Problem>(p, smem);   // grid: directions * batch; smem: (I + 3 H) floats
//
// Gates in ONNX's order: input, output, forget, cell. Sums are float.
#pragma once
#include "dlc/kernel.cuh"

namespace dlc::dev {
/// Rows row[0..3] of `weights` ([n] each) times the vector `v` in shared memory.
template <int V, class T, class Index>
DLC_DEVICE void lstm_dot4(const T *weights, const Index (&row)[4], Index n,
                          const float *v, float (&sum)[4]) {
  float part[4][V];
  for (int g = 0; g < 4; g++)
    for (int e = 0; e < V; e++)
      part[g][e] = 0;
  for (Index k = 0; k < n; k += V)
    for (int g = 0; g < 4; g++) {
      const Vec<T, V> w = ldcv<V>(weights, row[g] * n + k);
      DLC_UNROLL
      for (int e = 0; e < V; e++)
        part[g][e] += convert<float>(w[e]) * v[k + e];
    }
  for (int g = 0; g < 4; g++)
    for (int e = 0; e < V; e++)
      sum[g] += part[g][e];
}

template <class T> DLC_DEVICE float lstm_or_zero(const T *p, int64_t i) {
  return p ? convert<float>(ld(p, i)) : 0.f;
}

template <class Problem, class P>
DLC_DEVICE void lstm(const P &p, uint8_t *smem) {
  using Index = typename Problem::Index;
  using T = typename Problem::T;
  const Index steps = Problem::steps(p), batch = Problem::batch(p);
  const Index inputs = Problem::inputs(p), hidden = Problem::hidden(p);
  const Index directions = Problem::directions(p);
  const int d = int(Index(blockIdx.x) / batch);
  const Index b = Index(blockIdx.x) % batch;
  const Index first = Index(threadIdx.x), threads = Index(blockDim.x);
  float *x = reinterpret_cast<float *>(smem); // [I]
  float *h = x + inputs;                      // [H], of the step before
  float *hNext = h + hidden;                  // [H]
  float *c = hNext + hidden;                  // [H]
  auto clip = [](float v) {
    if constexpr (Problem::kClip > 0)
      return v < -Problem::kClip  ? -Problem::kClip
             : v > Problem::kClip ? Problem::kClip
                                  : v;
    return v;
  };
  pdl_wait();
  const Index state = (Index(d) * batch + b) * hidden;
  for (Index j = first; j < hidden; j += threads) {
    h[j] = lstm_or_zero(Problem::initialH(p), state + j);
    c[j] = lstm_or_zero(Problem::initialC(p), state + j);
  }
  const Index length = Index(Problem::length(p, b));
  for (Index step = 0; step < steps; step++) {
    if (step >= length) {
      // Past the end of this sequence: y is zero, the state stays.
      if (Problem::y(p))
        for (Index j = first; j < hidden; j += threads)
          st(Problem::y(p), ((step * directions + d) * batch + b) * hidden + j,
             convert<T>(0.f));
      continue;
    }
    const Index t = Problem::reversed(d) ? length - 1 - step : step;
    sync_block();
    for (Index i = first; i < inputs; i += threads)
      x[i] = convert<float>(ld(Problem::x(p), (t * batch + b) * inputs + i));
    sync_block();
    for (Index j = first; j < hidden; j += threads) {
      Index row[4];
      float gate[4];
      for (int g = 0; g < 4; g++) {
        row[g] = (Index(d) * 4 + g) * hidden + j;
        const Index at = (Index(d) * 8 + g) * hidden + j;
        gate[g] = lstm_or_zero(Problem::bias(p), at) +
                  lstm_or_zero(Problem::bias(p), at + 4 * hidden);
      }
      lstm_dot4<Problem::kVectorX>(Problem::w(p), row, inputs, x, gate);
      lstm_dot4<Problem::kVectorH>(Problem::r(p), row, hidden, h, gate);
      auto peephole = [&](int which) {
        return lstm_or_zero(Problem::peephole(p),
                            (Index(d) * 3 + which) * hidden + j);
      };
      const float old = c[j];
      const float in = Problem::f(d, clip(gate[0] + peephole(0) * old));
      const float forget =
          Problem::kInputForget
              ? 1 - in
              : Problem::f(d, clip(gate[2] + peephole(2) * old));
      const float cell = forget * old + in * Problem::g(d, clip(gate[3]));
      const float out = Problem::f(d, clip(gate[1] + peephole(1) * cell));
      c[j] = cell;
      hNext[j] = out * Problem::h(d, cell);
      if (Problem::y(p))
        st(Problem::y(p), ((t * directions + d) * batch + b) * hidden + j,
           convert<T>(hNext[j]));
    }
    float *const swap = h;
    h = hNext;
    hNext = swap;
  }
  sync_block();
  for (Index j = first; j < hidden; j += threads) {
    if (Problem::yH(p))
      st(Problem::yH(p), state + j, convert<T>(h[j]));
    if (Problem::yC(p))
      st(Problem::yC(p), state + j, convert<T>(c[j]));
  }
  pdl_launch();
}
} // namespace dlc::dev
