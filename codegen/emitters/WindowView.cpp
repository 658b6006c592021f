// SPDX-License-Identifier: Apache-2.0
// Pooling and depthwise convolution as taps.
#include "codegen/emitters/WindowView.h"
#include "codegen/Contraction.h"

using namespace dlc;
using namespace dlc::codegen;

bool WindowView::isDepthwise(const Op &op) {
  auto conv = llvm::dyn_cast<ConvOp>(&op);
  return conv && conv.groups() > 1 &&
         conv.filter()->type().dim(1).isConstant(1);
}

WindowView::WindowView(const Op &hero) : hero(hero) {
  auto slide = [this](auto op, size_t first) {
    for (size_t d = 0; d < op.strides().size(); d++)
      axes.push_back({first + d, op.strides()[d], op.padLow()[d],
                      op.padHigh()[d], op.dilations()[d]});
  };
  if (auto pool = llvm::dyn_cast<PoolOp>(&hero)) {
    slide(pool, 0);
    box.assign(pool.window().begin(), pool.window().end());
    return;
  }
  auto conv = llvm::cast<ConvOp>(&hero);
  slide(conv, 2);
  const Shape &filter = conv.filter()->type().shape;
  box.assign(filter.begin() + 2, filter.end());
}

WindowView::Tap WindowView::tap(const Coordinates &at, const Dim &t) const {
  const Shape &in = hero.operand(0)->type().shape;
  const Shape cell = delinearize(t, box);
  Tap tap;
  tap.input.index = at.index;
  for (auto [axis, i] : llvm::zip(axes, cell)) {
    Dim where = start(at, axis) + i * axis.dilation;
    tap.input.index[axis.dimension] = where;
    tap.inside.push_back({where, 0, in[axis.dimension]});
  }
  auto conv = llvm::dyn_cast<ConvOp>(&hero);
  if (!conv)
    return tap;
  const Dim &channel = at.index[1];
  const Dim perGroup = floorDiv(conv.filter()->type().dim(0), conv.groups());
  tap.input.index[1] = floorDiv(channel, perGroup);
  tap.filter = Coordinates{{channel, 0}, {}, {}};
  tap.filter->index.append(cell.begin(), cell.end());
  return tap;
}

/// Cells in [low, high) of a window that starts there.
static Dim covered(const Dim &start, int64_t window, int64_t dilation,
                   const Dim &low, const Dim &high) {
  return max(min(ceilDiv(high - start, dilation), window) -
                 max(ceilDiv(low - start, dilation), 0),
             0);
}

Dim WindowView::averaged(const Coordinates &at) const {
  auto pool = llvm::cast<PoolOp>(&hero);
  const Shape &in = hero.operand(0)->type().shape;
  Dim count = 1;
  for (const Axis &axis : axes) {
    const size_t d = axis.dimension;
    const int64_t window = pool.window()[d];
    // Cells that rounding up added are not padding: they do not count.
    const int64_t extra = pool.ceilExtra().empty() ? 0 : pool.ceilExtra()[d];
    const bool whole = axis.low == 0 && axis.high == 0;
    if (whole || (pool.countIncludePad() && extra == 0))
      count = count * window;
    else if (pool.countIncludePad())
      count = count * covered(start(at, axis), window, axis.dilation, -axis.low,
                              in[d] + axis.high - extra);
    else
      count = count * covered(start(at, axis), window, axis.dilation, 0, in[d]);
  }
  return count;
}

bool WindowView::keepsLanes(int64_t dimension) const {
  if (auto conv = llvm::dyn_cast<ConvOp>(&hero))
    return dimension == 1 &&
           conv.input()->type().dim(1) == conv.filter()->type().dim(0);
  const Axis &axis = axes[size_t(dimension)];
  return box[size_t(dimension)].isConstant(1) && axis.stride == 1 &&
         axis.low == 0 && axis.high == 0;
}
