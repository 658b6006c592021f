// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions as D[b][m][n] = sum over k of A * B.
#include "codegen/Contraction.h"

using namespace dlc;
using namespace dlc::codegen;

Shape codegen::delinearize(const Dim &linear, llvm::ArrayRef<Dim> box) {
  Shape index(box.size(), Dim(0));
  Dim stride = 1;
  bool outermost = true;
  for (size_t i = box.size(); i-- > 0;) {
    if (box[i].isConstant(1))
      continue;
    Dim v = floorDiv(linear, stride);
    outermost = llvm::all_of(box.take_front(i),
                             [](const Dim &d) { return d.isConstant(1); });
    index[i] = outermost ? v : mod(v, box[i]);
    stride = stride * box[i];
  }
  return index;
}

static ContractionView viewMatMul(const MatMulOp &op) {
  ContractionView v;
  v.a = op.lhs();
  v.b = op.rhs();
  const Shape &result = op.result()->type().shape;
  const Shape &lhs = v.a->type().shape, &rhs = v.b->type().shape;
  Shape batch(result.begin(), result.end() - 2);
  Shape batchA(lhs.begin(), lhs.end() - 2), batchB(rhs.begin(), rhs.end() - 2);
  Dim rows = result[result.size() - 2];
  v.n = result.back();
  v.k = lhs[lhs.size() - (op.transposeLhs() ? 2 : 1)];
  v.runA = v.k;
  // One B for the whole batch: the batch is more rows.
  bool folded =
      llvm::all_of(batchB, [](const Dim &d) { return d.isConstant(1); });
  Dim count = elementCount(batch);
  v.batch = folded ? Dim(1) : count;
  v.m = folded ? count * rows : rows;
  bool transposeA = op.transposeLhs(), transposeB = op.transposeRhs();
  auto split = [=](const Dim &b, const Dim &m) {
    Shape box = batch;
    if (!folded)
      return std::pair(delinearize(b, box), m);
    box.push_back(rows);
    Shape index = delinearize(m, box);
    Dim row = index.pop_back_val();
    return std::pair(index, row);
  };
  v.placeA = [=](const Dim &b, const Dim &m, const Dim &k, const Dim &lane) {
    auto [outer, row] = split(b, m);
    ContractionView::Place p;
    p.at.index = broadcastIndex(batchA, outer);
    p.at.index.push_back(transposeA ? k + lane : row);
    p.at.index.push_back(transposeA ? row : k + lane);
    return p;
  };
  v.placeB = [=](const Dim &b, const Dim &n, const Dim &k, const Dim &lane,
                 bool onN) {
    Dim column = onN ? n + lane : n, depth = onN ? k : k + lane;
    ContractionView::Place p;
    p.at.index = broadcastIndex(batchB, folded ? Shape(batch.size(), Dim(0))
                                               : delinearize(b, batch));
    p.at.index.push_back(transposeB ? column : depth);
    p.at.index.push_back(transposeB ? depth : column);
    return p;
  };
  v.result = [=](const Dim &b, const Dim &m, const Dim &n) {
    auto [outer, row] = split(b, m);
    Coordinates at;
    at.index = outer;
    at.index.push_back(row);
    at.index.push_back(n);
    // In row-major memory.
    at.linear = (b * (folded ? Dim(0) : rows) + m) * result.back() + n;
    return at;
  };
  return v;
}

namespace {
/// What conv and conv_transpose share.
struct Geometry {
  std::vector<int64_t> strides, padLow, dilations;
  int64_t groups = 1;
  Shape input, filter, result;
  bool transposed = false;
  bool channelsInner = true; ///< k is (taps, channel), else (channel, taps)
};
} // namespace

static ContractionView viewConvolution(const Geometry &g) {
  ContractionView v;
  size_t spatial = g.input.size() - 2;
  Dim channels = g.transposed ? floorDiv(g.input[1], g.groups) : g.filter[1];
  Dim outputs = floorDiv(g.result[1], g.groups);
  Shape taps(g.filter.begin() + 2, g.filter.end());
  Shape rows{g.result[0]};
  rows.append(g.result.begin() + 2, g.result.end());
  Shape box = taps;
  if (g.channelsInner)
    box.push_back(channels);
  else
    box.insert(box.begin(), channels);
  v.batch = g.groups;
  v.m = elementCount(rows);
  v.n = outputs;
  v.k = elementCount(box);
  v.runA = box.back();
  // (channel, taps...) at k.
  auto depth = [=](const Dim &k) {
    Shape index = delinearize(k, box);
    if (g.channelsInner) {
      Dim c = index.pop_back_val();
      index.insert(index.begin(), c);
    }
    return index;
  };
  v.placeA = [=](const Dim &b, const Dim &m, const Dim &k, const Dim &lane) {
    ContractionView::Place p;
    Shape at = delinearize(m, rows), tap = depth(k);
    tap[g.channelsInner ? 0 : tap.size() - 1] =
        tap[g.channelsInner ? 0 : tap.size() - 1] + lane;
    p.at.index = {at[0], b * channels + tap[0]};
    for (size_t d = 0; d < spatial; d++) {
      Dim where = g.transposed
                      ? at[1 + d] + g.padLow[d] - tap[1 + d] * g.dilations[d]
                      : at[1 + d] * g.strides[d] - g.padLow[d] +
                            tap[1 + d] * g.dilations[d];
      if (g.transposed) {
        if (g.strides[d] > 1)
          p.ranges.push_back({mod(where, g.strides[d]), 0, 1});
        p.ranges.push_back({where, 0, (g.input[2 + d] - 1) * g.strides[d] + 1});
        where = floorDiv(where, g.strides[d]);
      } else {
        p.ranges.push_back({where, 0, g.input[2 + d]});
      }
      p.at.index.push_back(where);
    }
    return p;
  };
  v.placeB = [=](const Dim &b, const Dim &n, const Dim &k, const Dim &lane,
                 bool onN) {
    ContractionView::Place p;
    Shape tap = depth(onN ? k : k + lane);
    Dim column = onN ? n + lane : n;
    if (g.transposed)
      p.at.index = {b * channels + tap[0], column};
    else
      p.at.index = {b * outputs + column, tap[0]};
    p.at.index.append(tap.begin() + 1, tap.end());
    return p;
  };
  v.result = [=](const Dim &b, const Dim &m, const Dim &n) {
    Shape at = delinearize(m, rows);
    Coordinates c;
    c.index = {at[0], b * outputs + n};
    c.index.append(at.begin() + 1, at.end());
    c.linear = m * g.result[1] + b * outputs + n;
    c.layout = Layout::channelsLast(int64_t(g.result.size()));
    return c;
  };
  return v;
}

ContractionView codegen::viewContraction(const Op &hero) {
  if (hero.kind() == OpKind::MatMul)
    return viewMatMul(llvm::cast<MatMulOp>(&hero));
  Geometry g;
  g.input = hero.operand(0)->type().shape;
  g.filter = hero.operand(1)->type().shape;
  g.result = hero.result()->type().shape;
  int64_t rank = int64_t(g.input.size());
  if (hero.kind() == OpKind::Conv) {
    auto op = llvm::cast<ConvOp>(&hero);
    g.strides = op.strides();
    g.padLow = op.padLow();
    g.dilations = op.dilations();
    g.groups = op.groups();
    g.channelsInner = op.filter()->type().layout.order(rank).back() == 1;
  } else {
    auto op = llvm::cast<ConvTransposeOp>(&hero);
    g.strides = op.strides();
    g.padLow = op.padLow();
    g.dilations = op.dilations();
    g.groups = op.groups();
    g.transposed = true;
    g.channelsInner = op.input()->type().layout.order(rank).back() == 1;
  }
  ContractionView v = viewConvolution(g);
  v.a = hero.operand(0);
  v.b = hero.operand(1);
  return v;
}
