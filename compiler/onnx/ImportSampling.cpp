// SPDX-License-Identifier: Apache-2.0
// Sampling at positions that are computed: GridSample, AffineGrid, RoiAlign.
#include "compiler/onnx/Operators.h"
#include <cmath>

using namespace dlc;

namespace {

enum class Padding { Zeros, Border, Reflection };

/// Where one sample reads along one dimension, and with which weight.
struct Tap {
  Value *index;  // i64, in range
  Value *weight; // null: 1
  Value *valid;  // null: always
};

class GridSample {
public:
  GridSample(NodeReader &n, NodeBuilder &b) : n(n), b(b) {}
  void run();

private:
  Value *reflect(Value *x, const Dim &size);
  std::vector<Tap> taps(Value *x, const Dim &size);
  Value *number(double value) { return b.scalar(type, value); }

  NodeReader &n;
  NodeBuilder &b;
  DataType type = DataType::F32;
  ResizeMode mode = ResizeMode::Linear;
  Padding padding = Padding::Zeros;
  bool alignCorners = false;
};

} // namespace

/// x folded back at the borders until it lies between them.
Value *GridSample::reflect(Value *x, const Dim &size) {
  Value *low = number(alignCorners ? 0 : -0.5);
  Value *range = b.dim(alignCorners ? size - 1 : size, type);
  // A wave of twice the range; a range of 0 leaves the border itself.
  Value *twice = b.add(range, range);
  Value *phase = b.emit<RemOp>(b.emit<AbsOp>(b.sub(x, low)), twice);
  Value *folded = b.min(phase, b.sub(twice, phase));
  Value *flat = b.emit<EqualOp>(range, number(0));
  return b.select(flat, low, b.add(low, folded));
}

std::vector<Tap> GridSample::taps(Value *x, const Dim &size) {
  Value *zero = number(0), *last = b.dim(size - 1, type);
  if (mode == ResizeMode::Nearest)
    x = b.emit<RoundOp>(x);
  if (padding == Padding::Border)
    x = b.min(b.max(x, zero), last);
  else if (padding == Padding::Reflection)
    x = reflect(x, size);
  Value *base = mode == ResizeMode::Nearest ? x : b.emit<FloorOp>(x);
  Value *f = b.sub(x, base), *one = number(1);
  std::vector<Value *> weights;
  int first = 0;
  if (mode == ResizeMode::Nearest) {
    weights = {nullptr};
  } else if (mode == ResizeMode::Linear) {
    weights = {b.sub(one, f), f};
  } else {
    // Cubic convolution with a = -0.75.
    auto near = [&](Value *t) { // (a + 2) t^3 - (a + 3) t^2 + 1
      Value *inner = b.sub(b.scale(t, 1.25), number(2.25));
      return b.add(b.mul(b.mul(inner, t), t), one);
    };
    auto far = [&](Value *t) { // a t^3 - 5 a t^2 + 8 a t - 4 a
      Value *sum = b.addTo(b.scale(t, -0.75), 3.75);
      return b.addTo(b.mul(b.addTo(b.mul(sum, t), -6), t), 3);
    };
    Value *rest = b.sub(one, f);
    weights = {far(b.add(f, one)), near(f), near(rest), far(b.add(rest, one))};
    first = -1;
  }
  std::vector<Tap> result;
  for (size_t i = 0; i < weights.size(); ++i) {
    int offset = first + int(i);
    Value *at = offset ? b.addTo(base, offset) : base, *valid = nullptr;
    if (padding == Padding::Zeros)
      valid = b.emit<AndOp>(b.emit<LessEqualOp>(zero, at),
                            b.emit<LessEqualOp>(at, last));
    else if (padding == Padding::Reflection)
      at = reflect(at, size);
    Value *index = b.cast(b.min(b.max(at, zero), last), DataType::I64);
    result.push_back({index, weights[i], valid});
  }
  return result;
}

void GridSample::run() {
  Value *x = n.input(0), *grid = n.input(1);
  mode = n.choice("mode", ResizeMode::Linear,
                  {{"bilinear", ResizeMode::Linear},
                   {"linear", ResizeMode::Linear},
                   {"nearest", ResizeMode::Nearest},
                   {"bicubic", ResizeMode::Cubic},
                   {"cubic", ResizeMode::Cubic}});
  padding = n.choice("padding_mode", Padding::Zeros,
                     {{"zeros", Padding::Zeros},
                      {"border", Padding::Border},
                      {"reflection", Padding::Reflection}});
  alignCorners = n.flag("align_corners", false);
  const Shape shape = x->type().shape;
  const Shape places = grid->type().shape;
  int64_t spatial = x->type().rank() - 2;
  if (spatial < 1 || spatial > 3 || grid->type().rank() != spatial + 2 ||
      !places.back().isConstant(spatial) || !isFloat(grid->type().element))
    return n.error("X is " + x->type().str() + " and grid " +
                   grid->type().str() +
                   ", expected [N, C, ...] and [N, ..., one value per spatial "
                   "dimension]");
  type = computeType(grid->type().element);
  grid = b.widen(grid);
  std::vector<Dim> sites(places.begin() + 1, places.end() - 1);
  Dim count = elementCount(sites), pixels(1);
  std::vector<std::vector<Tap>> all;
  for (int64_t d = 0; d < spatial; ++d) {
    // The last dimension of the grid counts from the innermost outwards.
    Value *g = b.slice(grid, spatial + 1, spatial - 1 - d, 1);
    const Dim &size = shape[size_t(d + 2)];
    Value *length = b.dim(size, type), *one = number(1);
    Value *u = b.add(b.reshape(g, {shape[0], Dim(1), count}), one);
    Value *place = alignCorners
                       ? b.mul(b.div(u, number(2)), b.sub(length, one))
                       : b.div(b.sub(b.mul(u, length), one), number(2));
    all.push_back(taps(place, size));
    pixels = pixels * size;
  }
  if (n.failed())
    return;
  Value *flat = b.reshape(x, {shape[0], shape[1], pixels});
  DataType wide = computeType(x->type().element);
  if (isInteger(x->type().element))
    wide = type;
  Value *total = nullptr;
  std::vector<size_t> choice(all.size(), 0);
  for (bool more = true; more && !n.failed();) {
    Value *index = nullptr, *weight = nullptr, *valid = nullptr;
    for (size_t d = 0; d < all.size(); ++d) {
      const Tap &tap = all[d][choice[d]];
      index = index ? b.add(b.mul(index, b.dim(shape[d + 2], DataType::I64)),
                            tap.index)
                    : tap.index;
      if (tap.weight)
        weight = weight ? b.mul(weight, tap.weight) : tap.weight;
      if (tap.valid)
        valid = valid ? b.emit<AndOp>(valid, tap.valid) : tap.valid;
    }
    Value *spread = b.broadcast(index, {shape[0], shape[1], count});
    Value *pixel = b.emit<GatherElementsOp>(flat, spread, 2);
    if (valid)
      pixel = b.select(valid, pixel, b.like(x, 0));
    if (weight)
      pixel = b.mul(b.cast(pixel, wide), b.cast(weight, wide));
    total = total ? b.add(total, pixel) : pixel;
    more = false;
    for (size_t d = 0; d < choice.size() && !more; ++d) {
      more = ++choice[d] < all[d].size();
      if (!more)
        choice[d] = 0;
    }
  }
  if (!total)
    return;
  std::vector<Dim> result{shape[0], shape[1]};
  result.insert(result.end(), sites.begin(), sites.end());
  n.result(b.reshape(b.cast(total, x->type().element), result));
}

namespace dlc {

void importGridSample(NodeReader &n, NodeBuilder &b) { GridSample(n, b).run(); }

/// theta times the homogeneous coordinates of a regular grid.
void importAffineGrid(NodeReader &n, NodeBuilder &b) {
  Value *theta = n.input(0);
  bool alignCorners = n.flag("align_corners", false);
  std::optional<std::vector<int64_t>> size = n.ints(1, "size");
  if (!size)
    return;
  int64_t spatial = int64_t(size->size()) - 2;
  if ((spatial != 2 && spatial != 3) || theta->type().rank() != 3 ||
      llvm::any_of(*size, [](int64_t s) { return s < 1 || s > (1 << 20); }))
    return n.error("theta is " + theta->type().str() + " and size has " +
                   llvm::Twine(size->size()) +
                   " values, expected [N, 2, 3] and 4, or [N, 3, 4] and 5");
  int64_t count = 1;
  for (int64_t d = 0; d < spatial; ++d)
    count *= (*size)[size_t(d + 2)];
  if (count > (int64_t(1) << 24))
    return n.error("the grid has " + llvm::Twine(count) +
                   " places, supported are " + llvm::Twine(int64_t(1) << 24));
  // One row per coordinate, x first, ones last.
  std::vector<double> grid(size_t(count * (spatial + 1)), 1.0);
  int64_t inner = 1;
  for (int64_t d = spatial - 1, row = 0; d >= 0; --d, ++row) {
    int64_t length = (*size)[size_t(d + 2)];
    for (int64_t i = 0; i < count; ++i) {
      double at = double(i / inner % length);
      grid[size_t(row * count + i)] =
          alignCorners ? (length == 1 ? -1 : 2 * at / double(length - 1) - 1)
                       : (2 * at + 1) / double(length) - 1;
    }
    inner *= length;
  }
  Value *wide = b.widen(theta);
  if (!wide)
    return;
  Value *places = b.constant(Constant::fromFloats(
      TensorType(wide->type().element, {Dim(spatial + 1), Dim(count)}), grid));
  Value *y = b.transpose(b.emit<MatMulOp>(wide, places), {0, 2, 1});
  std::vector<Dim> shape{theta->type().shape[0]};
  for (int64_t d = 0; d < spatial; ++d)
    shape.push_back((*size)[size_t(d + 2)]);
  shape.push_back(spatial);
  n.result(b.cast(b.reshape(y, shape), theta->type().element));
}

} // namespace dlc
