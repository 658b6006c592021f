// SPDX-License-Identifier: Apache-2.0
// RoiAlign with a fixed number of samples per bin.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace {

/// Two neighbouring positions along one dimension, [R, samples].
struct Neighbours {
  Value *low, *high;             // i64
  Value *lowWeight, *highWeight; // f32
  Value *inside;                 // bool
};

} // namespace

/// Samples of all regions along one dimension: start + (i + 0.5) * step.
static Neighbours neighbours(NodeBuilder &b, Value *start, Value *extent,
                             int64_t samples, const Dim &size) {
  DataType f32 = DataType::F32;
  std::vector<Dim> counting{Dim(1), Dim(samples)};
  Value *i = b.cast(b.emit<IotaOp>(counting, 1, DataType::I64), f32);
  Value *part = b.div(b.addTo(i, 0.5), b.scalar(f32, double(samples)));
  Value *at = b.add(start, b.mul(extent, part));
  Value *zero = b.scalar(f32, 0), *last = b.dim(size - 1, f32);
  Neighbours s;
  s.inside = b.emit<AndOp>(b.emit<LessEqualOp>(b.scalar(f32, -1), at),
                           b.emit<LessEqualOp>(at, b.dim(size, f32)));
  at = b.min(b.max(at, zero), last);
  Value *low = b.emit<FloorOp>(at);
  Value *high = b.min(b.addTo(low, 1), last);
  s.highWeight = b.sub(at, low);
  s.lowWeight = b.sub(b.scalar(f32, 1), s.highWeight);
  s.low = b.cast(low, DataType::I64);
  s.high = b.cast(high, DataType::I64);
  return s;
}

namespace dlc {

void importRoiAlign(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *rois = n.input(1), *batch = n.input(2);
  bool half = n.opset() >= 16 &&
              n.choice("coordinate_transformation_mode", true,
                       {{"half_pixel", true}, {"output_half_pixel", false}});
  bool average = n.choice("mode", true, {{"avg", true}, {"max", false}});
  int64_t height = n.integer("output_height", 1);
  int64_t width = n.integer("output_width", 1);
  int64_t ratio = n.integer("sampling_ratio", 0);
  double scale = n.real("spatial_scale", 1);
  if (x->type().rank() != 4 || rois->type().rank() != 2 ||
      batch->type().rank() != 1 || !rois->type().shape[1].isConstant(4))
    return n.error("X is " + x->type().str() + ", rois " + rois->type().str() +
                   " and batch_indices " + batch->type().str() +
                   ", expected [N, C, H, W], [R, 4] and [R]");
  int64_t most = 1 << 12;
  if (height < 1 || width < 1 || height > most || width > most || ratio > most)
    return n.error("output_height is " + llvm::Twine(height) +
                   " and output_width " + llvm::Twine(width) +
                   ", expected positive numbers");
  if (ratio < 1)
    return n.error(
        "sampling_ratio is " + llvm::Twine(ratio) +
        ", which takes as many samples as a region is large: supported "
        "are positive numbers");
  DataType f32 = DataType::F32;
  const Shape shape = x->type().shape;
  Dim count = rois->type().shape[0];
  // Corners as [R, 1].
  Value *boxes = b.scale(b.cast(rois, f32), scale);
  if (half)
    boxes = b.addTo(boxes, -0.5);
  auto corner = [&](int64_t i) { return b.slice(boxes, 1, i, 1); };
  Value *left = corner(0), *top = corner(1);
  Value *across = b.sub(corner(2), left), *down = b.sub(corner(3), top);
  if (!half) {
    across = b.max(across, b.scalar(f32, 1));
    down = b.max(down, b.scalar(f32, 1));
  }
  Neighbours rows = neighbours(b, top, down, height * ratio, shape[2]);
  Neighbours columns = neighbours(b, left, across, width * ratio, shape[3]);
  if (n.failed())
    return;
  // Pixels as rows of channels; the first one of each region's image.
  Value *pixels = b.reshape(b.transpose(x, {0, 2, 3, 1}),
                            {shape[0] * shape[2] * shape[3], shape[1]});
  Value *first =
      b.mul(b.reshape(b.cast(batch, DataType::I64), {count, Dim(1), Dim(1)}),
            b.dim(shape[2] * shape[3], DataType::I64));
  auto upright = [&](Value *v) { return b.unsqueeze(v, {2}); };
  auto level = [&](Value *v) { return b.unsqueeze(v, {1}); };
  Value *inside = b.emit<AndOp>(upright(rows.inside), level(columns.inside));
  Value *stride = b.dim(shape[3], DataType::I64), *total = nullptr;
  for (bool lower : {false, true})
    for (bool right : {false, true}) {
      Value *index = b.add(
          b.add(first, b.mul(upright(lower ? rows.high : rows.low), stride)),
          level(right ? columns.high : columns.low));
      Value *weight =
          b.mul(upright(lower ? rows.highWeight : rows.lowWeight),
                level(right ? columns.highWeight : columns.lowWeight));
      weight = b.select(inside, weight, b.scalar(f32, 0));
      Value *part = b.mul(b.cast(b.emit<GatherOp>(pixels, index, 0), f32),
                          b.unsqueeze(weight, {3}));
      total = !total ? part : average ? b.add(total, part) : b.max(total, part);
    }
  Value *bins = b.reshape(total, {count, Dim(height), Dim(ratio), Dim(width),
                                  Dim(ratio), shape[1]});
  Value *y = average ? b.mean(bins, {2, 4}, false)
                     : b.reduce(bins, ReduceKind::Max, {2, 4}, false);
  n.result(b.cast(b.transpose(y, {0, 3, 1, 2}), x->type().element));
}

} // namespace dlc
