// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression, greedy, as ONNX defines it: per batch and class boxes are
// taken by falling score (ties: the lower index), each unless it overlaps one
// already taken by more than the threshold.
//
//   struct Problem {
//     using T = float;                      // boxes and scores
//     using Index = int32_t;
//     static constexpr bool kCenter = false;         // [x, y, w, h] boxes
//     static Index batches(p), classes(p), boxes(p);
//     static const T *boxData(p), *scoreData(p);     // [B][N][4], [B][C][N]
//     static int64_t maxOutput(p);          // per class; 0: none
//     static float iouThreshold(p), scoreThreshold(p); // read after the wait
//     static constexpr bool kHasScoreThreshold;
//     static int32_t *taken(p);             // workspace [B * C][N]
//     static int32_t *takenCount(p);        // workspace [B * C]
//     static int64_t *result(p);            // [count][3], room for all
//     static int64_t *count(p);             // device cell
//   };
//   nms_select<Problem>(p, smem);   // one block per (batch, class)
//   nms_write<Problem>(p);          // one block: joins the lists, sets the count
#pragma once
#include "dlc/order.cuh"

namespace dlc::dev {
struct Box {
  float y0, x0, y1, x1;
  DLC_DEVICE float area() const { return (y1 - y0) * (x1 - x0); }
};

template <class Problem, class P>
DLC_DEVICE Box nms_box(const P &p, typename Problem::Index at) {
  float v[4];
  for (int i = 0; i < 4; i++)
    v[i] = float(convert<float>(ld(Problem::boxData(p), at * 4 + i)));
  if constexpr (Problem::kCenter)
    return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  // Any two opposite corners.
  return {v[0] < v[2] ? v[0] : v[2], v[1] < v[3] ? v[1] : v[3],
          v[0] < v[2] ? v[2] : v[0], v[1] < v[3] ? v[3] : v[1]};
}

DLC_DEVICE bool nms_overlap(const Box &a, const Box &b, float threshold) {
  const float y0 = a.y0 > b.y0 ? a.y0 : b.y0, x0 = a.x0 > b.x0 ? a.x0 : b.x0;
  const float y1 = a.y1 < b.y1 ? a.y1 : b.y1, x1 = a.x1 < b.x1 ? a.x1 : b.x1;
  const float h = y1 - y0, w = x1 - x0;
  if (!(h > 0 && w > 0))
    return false;
  const float both = h * w, either = a.area() + b.area() - both;
  return either > 0 && both / either > threshold;
}

/// smem: block_reduce_bytes<Candidate<float>>.
template <class Problem, class P>
DLC_DEVICE void nms_select(const P &p, uint8_t *smem) {
  using Index = typename Problem::Index;
  using First = Earlier<true>;
  pdl_wait();
  const Index boxes = Problem::boxes(p), classes = Problem::classes(p);
  const Index list = Index(blockIdx.x), batch = list / classes;
  const int64_t limit = Problem::maxOutput(p);
  const float iou = Problem::iouThreshold(p);
  Index taken = 0;
  Candidate<float> last{0.f, -1};
  while (taken < limit && taken < boxes) {
    // The next candidate in order that no taken box suppresses.
    Candidate<float> best{0.f, -1};
    for (Index j = Index(threadIdx.x); j < boxes; j += Index(blockDim.x)) {
      const Candidate<float> c{
          float(convert<float>(ld(Problem::scoreData(p), list * boxes + j))),
          j};
      if (Problem::kHasScoreThreshold && !(c.value > Problem::scoreThreshold(p)))
        continue;
      if (last.index >= 0 && First::apply(c, last).index == c.index)
        continue;
      const Box box = nms_box<Problem>(p, batch * boxes + j);
      bool free = true;
      for (Index t = 0; t < taken && free; t++)
        free = !nms_overlap(
            box,
            nms_box<Problem>(p, batch * boxes +
                                    ld(Problem::taken(p), list * boxes + t)),
            iou);
      if (free)
        best = First::apply(best, c);
    }
    best = block_reduce<First>(best, smem);
    if (best.index < 0)
      break;
    last = best;
    if (threadIdx.x == 0)
      st(Problem::taken(p), list * boxes + taken, int32_t(best.index));
    taken++;
    sync_block();
  }
  if (threadIdx.x == 0)
    st(Problem::takenCount(p), list, int32_t(taken));
  pdl_launch();
}

template <class Problem, class P> DLC_DEVICE void nms_write(const P &p) {
  using Index = typename Problem::Index;
  pdl_wait();
  const Index boxes = Problem::boxes(p), classes = Problem::classes(p);
  const Index lists = Problem::batches(p) * classes;
  Index start = 0;
  for (Index list = 0; list < lists; list++) {
    const Index n = ld(Problem::takenCount(p), list);
    for (Index t = Index(threadIdx.x); t < n; t += Index(blockDim.x)) {
      const Index to = (start + t) * 3;
      st(Problem::result(p), to, int64_t(list / classes));
      st(Problem::result(p), to + 1, int64_t(list % classes));
      st(Problem::result(p), to + 2,
         int64_t(ld(Problem::taken(p), list * boxes + t)));
    }
    start += n;
  }
  if (threadIdx.x == 0)
    st(Problem::count(p), 0, int64_t(start));
  pdl_launch();
}
} // namespace dlc::dev
