// SPDX-License-Identifier: Apache-2.0
// Ops that move elements and compute nothing.
#include "ir/reference/Walk.h"

namespace dlc::reference {

Expected<Tensors> evaluateReshape(const Context &c) {
  Expected<Index> shape = c.values(llvm::cast<ReshapeOp>(&c.op).shape());
  if (!shape)
    return shape.takeError();
  if (product(*shape) != c.input(0).elements())
    return c.error("input " + shapeText(c.input(0).shape()) +
                   " does not have the elements of " + shapeText(*shape));
  return Tensors{c.input(0).withShape(*shape)};
}

Expected<Tensors> evaluateTranspose(const Context &c) {
  const auto &permutation = llvm::cast<TransposeOp>(&c.op).permutation();
  const Tensor &x = c.input(0);
  Index strides = rowMajorStrides(x.shape()), shape(x.rank());
  std::vector<Index> tables(x.rank());
  for (int64_t d = 0; d < x.rank(); d++) {
    shape[d] = x.shape()[permutation[d]];
    for (int64_t i = 0; i < shape[d]; i++)
      tables[d].push_back(i * strides[permutation[d]]);
  }
  return Tensors{copyThrough(x, shape, tables)};
}

Expected<Tensors> evaluateBroadcast(const Context &c) {
  Expected<Index> shape = c.values(llvm::cast<BroadcastOp>(&c.op).shape());
  if (!shape)
    return shape.takeError();
  Expected<Index> joined = broadcastShapes(c, c.input(0).shape(), *shape);
  if (!joined)
    return joined.takeError();
  if (*joined != *shape)
    return c.error("input " + shapeText(c.input(0).shape()) +
                   " does not broadcast to " + shapeText(*shape));
  return Tensors{broadcastTo(c.input(0), *shape)};
}

Expected<Tensors> evaluateSlice(const Context &c) {
  auto op = llvm::cast<SliceOp>(&c.op);
  const Tensor &x = c.input(0);
  Expected<Index> starts = c.values(op.starts());
  if (!starts)
    return starts.takeError();
  Expected<Index> sizes = c.values(op.sizes());
  if (!sizes)
    return sizes.takeError();
  Index strides = rowMajorStrides(x.shape());
  std::vector<Index> tables(x.rank());
  for (int64_t d = 0; d < x.rank(); d++)
    for (int64_t i = 0; i < (*sizes)[d]; i++) {
      int64_t at = (*starts)[d] + i * op.steps()[d];
      if (at < 0 || at >= x.shape()[d])
        return c.error("index " + llvm::Twine(at) + " of dimension " +
                       llvm::Twine(d) + " lies outside " +
                       shapeText(x.shape()));
      tables[d].push_back(at * strides[d]);
    }
  return Tensors{copyThrough(x, *sizes, tables)};
}

/// Index of the input that position `at` of a padded dimension shows.
static int64_t paddedIndex(PadMode mode, int64_t at, int64_t size) {
  if (at >= 0 && at < size)
    return at;
  if (size == 0)
    return kNoElement;
  switch (mode) {
  case PadMode::Constant:
    return kNoElement;
  case PadMode::Edge:
    return at < 0 ? 0 : size - 1;
  case PadMode::Wrap:
    return (at % size + size) % size;
  case PadMode::Reflect: {
    // 0 1 2 3 2 1 0 1 ...: the border is not repeated.
    int64_t period = std::max<int64_t>(2 * (size - 1), 1);
    int64_t i = (at % period + period) % period;
    return i < size ? i : period - i;
  }
  }
  __builtin_unreachable();
}

Expected<Tensors> evaluatePad(const Context &c) {
  auto op = llvm::cast<PadOp>(&c.op);
  const Tensor &x = c.input(0);
  Expected<Index> low = c.values(op.low());
  if (!low)
    return low.takeError();
  Expected<Index> high = c.values(op.high());
  if (!high)
    return high.takeError();
  Index strides = rowMajorStrides(x.shape()), shape(x.rank());
  std::vector<Index> tables(x.rank());
  for (int64_t d = 0; d < x.rank(); d++) {
    shape[d] = x.shape()[d] + (*low)[d] + (*high)[d];
    if (shape[d] < 0)
      return c.error("pads of " + llvm::Twine((*low)[d]) + " and " +
                     llvm::Twine((*high)[d]) + " crop more than dimension " +
                     llvm::Twine(d) + " of " + shapeText(x.shape()) + " has");
    for (int64_t i = 0; i < shape[d]; i++) {
      int64_t at = paddedIndex(op.mode(), i - (*low)[d], x.shape()[d]);
      tables[d].push_back(at == kNoElement ? at : at * strides[d]);
    }
  }
  Tensor fill(x.element(), {});
  if (c.has(1) && c.input(1).elements() != 1)
    return c.error("expected one fill value, got shape " +
                   shapeText(c.input(1).shape()));
  if (c.has(1))
    fill = c.input(1).converted(x.element());
  return Tensors{copyThrough(x, shape, tables, &fill)};
}

Expected<Tensors> evaluateConcat(const Context &c) {
  auto op = llvm::cast<ConcatOp>(&c.op);
  Index shape = c.input(0).shape();
  int64_t axis = positiveAxis(op.axis(), int64_t(shape.size()));
  shape[axis] = 0;
  for (unsigned i = 0; i < c.numInputs(); i++) {
    Index other = c.input(i).shape();
    if (other.size() != shape.size())
      return c.error("input " + llvm::Twine(i) + " has shape " +
                     shapeText(other) + ", the first has " +
                     shapeText(c.input(0).shape()));
    shape[axis] += std::exchange(other[axis], shape[axis]);
    other[axis] = shape[axis];
    if (other != shape)
      return c.error("input " + llvm::Twine(i) + " has shape " +
                     shapeText(c.input(i).shape()) + ", the first has " +
                     shapeText(c.input(0).shape()));
  }
  Tensor result(c.input(0).element(), shape);
  AxisView whole(shape, axis);
  int64_t bytes = byteSize(result.element(), 1), before = 0;
  uint8_t *to = result.data();
  for (unsigned i = 0; i < c.numInputs(); i++) {
    const Tensor &x = c.input(i);
    int64_t size = x.shape()[axis] * whole.inner * bytes;
    for (int64_t o = 0; o < whole.outer && size; o++)
      std::memcpy(to + (o * whole.size + before) * whole.inner * bytes,
                  x.data() + o * size, size);
    before += x.shape()[axis];
  }
  return Tensors{result};
}

Expected<Tensors> evaluateLayoutCopy(const Context &c) {
  return Tensors{c.input(0)};
}

} // namespace dlc::reference
