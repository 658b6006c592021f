// SPDX-License-Identifier: Apache-2.0
// DeformConv: samples where the offsets say, then a product.
#include "compiler/onnx/Assume.h"
#include "compiler/onnx/Operators.h"
#include "compiler/onnx/WindowGeometry.h"

using namespace dlc;

namespace dlc {

namespace {

/// Along one axis: elements below and above each place, as i64, how much each
/// counts (0 outside), for places in f32 or wider.
struct Neighbours {
  Value *index[2], *share[2];
};

} // namespace

static Neighbours neighbours(NodeBuilder &b, Value *place, const Dim &size) {
  Neighbours found = {};
  Value *low = b.emit<FloorOp>(place);
  Value *above = b.sub(place, low);
  Value *zero = b.scalar(DataType::I64, 0),
        *last = b.dim(size - 1, DataType::I64);
  for (int i : {0, 1}) {
    Value *index = b.cast(i ? b.addTo(low, 1) : low, DataType::I64);
    Value *inside = b.emit<AndOp>(b.emit<LessEqualOp>(zero, index),
                                  b.emit<LessEqualOp>(index, last));
    Value *share = i ? above : b.addTo(b.scale(above, -1), 1);
    if (!inside || !share)
      return found;
    found.share[i] = b.select(inside, share, b.like(share, 0));
    found.index[i] = b.select(inside, index, zero);
  }
  return found;
}

void importDeformConv(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *w = n.input(1), *offset = n.input(2);
  if (x->type().rank() != 4 || w->type().rank() != 4 ||
      offset->type().rank() != 4)
    return n.error("X is " + x->type().str() + ", W " + w->type().str() +
                   " and offset " + offset->type().str() +
                   ", supported are images: [N, C, H, W] each");
  const Shape image = x->type().shape, filter = w->type().shape,
              out = offset->type().shape;
  if (!filter[2].isConstant() || !filter[3].isConstant())
    return n.error("W is " + w->type().str() +
                   ", expected a kernel of a known size");
  std::vector<int64_t> kernel = n.integers("kernel_shape");
  std::vector<int64_t> strides = readPerDimension(n, "strides", 2);
  std::vector<int64_t> dilations = readPerDimension(n, "dilations", 2);
  auto [low, high] = readPads(n, 2);
  int64_t groups = n.integer("group", 1), parts = n.integer("offset_group", 1);
  int64_t height = filter[2].constant(), width = filter[3].constant();
  if (n.failed())
    return;
  if (!kernel.empty() && kernel != std::vector<int64_t>{height, width})
    return n.error("kernel_shape is not that of W, " + w->type().str());
  if (groups < 1 || parts < 1 ||
      (image[1].isConstant() &&
       (image[1].constant() % groups || image[1].constant() % parts)) ||
      (filter[0].isConstant() && filter[0].constant() % groups))
    return n.error("group is " + llvm::Twine(groups) + " and offset_group " +
                   llvm::Twine(parts) + ", expected divisors of the channels " +
                   image[1].str() + " and " + filter[0].str());
  int64_t taps = height * width;
  Dim places = out[2] * out[3];
  for (size_t d : {0, 1}) {
    Dim size = floorDiv(image[d + 2] + Dim(low[d] + high[d]) -
                            ((filter[d + 2] - 1) * Dim(dilations[d]) + 1),
                        strides[d]) +
               1;
    assume(n, out[d + 2], Relation::Equal, size,
           "offsets for each place of the result");
  }
  DataType wide = computeType(x->type().element);
  Value *moved = b.cast(offset, wide);
  moved = b.reshape(moved, {out[0], parts, taps, 2, out[2], out[3]});
  // Places of the taps: [N, offset groups, taps, H, W] along each axis.
  Neighbours along[2];
  for (int64_t axis : {0, 1}) {
    std::vector<int64_t> start;
    for (int64_t t = 0; t < taps; ++t)
      start.push_back((axis ? t % width : t / width) * dilations[size_t(axis)] -
                      low[size_t(axis)]);
    std::vector<Dim> counting(5, Dim(1));
    counting[size_t(3 + axis)] = out[size_t(2 + axis)];
    Value *from = b.add(b.mul(b.emit<IotaOp>(counting, 3 + axis, DataType::I64),
                              b.dim(Dim(strides[size_t(axis)]), DataType::I64)),
                        b.reshape(b.ints(start), {1, 1, taps, 1, 1}));
    Value *shift = b.reshape(b.slice(moved, 3, axis, 1),
                             {out[0], parts, taps, out[2], out[3]});
    if (n.failed())
      return;
    along[axis] = neighbours(b, b.add(b.cast(from, wide), shift),
                             image[size_t(2 + axis)]);
  }
  // All four corners, for all channels of an offset group at once.
  Dim each = floorDiv(image[1], parts), columns = places * taps;
  Value *pixels =
      b.reshape(b.cast(x, wide), {image[0], parts, each, image[2] * image[3]});
  Value *sum = nullptr;
  for (int row : {0, 1})
    for (int column : {0, 1}) {
      Value *index =
          b.add(b.mul(along[0].index[row], b.dim(image[3], DataType::I64)),
                along[1].index[column]);
      Value *share = b.mul(along[0].share[row], along[1].share[column]);
      index = b.broadcast(b.reshape(index, {image[0], parts, 1, columns}),
                          {image[0], parts, each, columns});
      Value *value = b.mul(b.emit<GatherElementsOp>(pixels, index, 3),
                           b.reshape(share, {image[0], parts, 1, columns}));
      sum = sum ? b.add(sum, value) : value;
    }
  if (n.hasInput(4))
    sum = b.mul(sum, b.reshape(b.cast(n.input(4), wide),
                               {image[0], parts, 1, columns}));
  Dim depth = floorDiv(image[1], groups) * taps;
  Value *y = b.emit<MatMulOp>(
      b.reshape(b.cast(w, wide), {groups, floorDiv(filter[0], groups), depth}),
      b.reshape(sum, {image[0], groups, depth, places}));
  y = b.reshape(y, {image[0], filter[0], out[2], out[3]});
  if (n.hasInput(3))
    y = b.add(y, b.perChannel(b.cast(n.input(3), wide), 4));
  n.result(b.cast(y, x->type().element));
}

} // namespace dlc
