// SPDX-License-Identifier: Apache-2.0
// Quantisation spelled out in casts and arithmetic.
#include "compiler/onnx/Operators.h"
#include "compiler/onnx/WindowGeometry.h"

using namespace dlc;

namespace dlc {

/// A scale or zero point made to line up with x: a scalar, one value per
/// position of `axis`, or one per block along it.
static Value *lineUp(NodeReader &n, NodeBuilder &b, Value *p, Value *x,
                     int64_t axis, int64_t block) {
  if (n.failed())
    return nullptr;
  const Shape &shape = x->type().shape;
  if (p->type().elementCount().isConstant(1) && p->type().rank() <= 1)
    return b.reshape(p, {});
  axis = n.normalizeAxis(axis, x->type().rank(), "attribute \"axis\"");
  if (n.failed())
    return nullptr;
  if (block == 0) {
    if (p->type().rank() != 1) {
      n.error("scale or zero point is " + p->type().str() +
              ", expected a scalar or a vector");
      return nullptr;
    }
    std::vector<Dim> spread(shape.size(), Dim(1));
    spread[size_t(axis)] = p->type().shape[0];
    return b.reshape(p, spread);
  }
  if (p->type().rank() != x->type().rank()) {
    n.error("scale or zero point is " + p->type().str() +
            ", expected one value per block of " + x->type().str());
    return nullptr;
  }
  // Each block's value repeated along the axis, the last block cut off.
  std::vector<Dim> apart, repeated, joined;
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim &size = p->type().shape[i];
    apart.push_back(size);
    repeated.push_back(size);
    joined.push_back(int64_t(i) == axis ? size * Dim(block) : size);
    if (int64_t(i) == axis) {
      apart.push_back(1);
      repeated.push_back(block);
    }
  }
  Value *whole = b.reshape(b.broadcast(b.reshape(p, apart), repeated), joined);
  return b.slice(whole, axis, 0, shape[size_t(axis)]);
}

static int64_t readAxis(NodeReader &n) {
  return n.opset() >= 13 ? n.integer("axis", 1) : 0;
}
static int64_t readBlock(NodeReader &n) {
  int64_t block = n.opset() >= 21 ? n.integer("block_size", 0) : 0;
  if (block < 0)
    n.error("attribute \"block_size\" is " + llvm::Twine(block) +
            ", expected 0 or more");
  return block;
}

/// (x - zero point) * scale
void importDequantizeLinear(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *scale = n.input(1);
  int64_t axis = readAxis(n), block = readBlock(n);
  DataType result = scale->type().element;
  if (n.opset() >= 23 && n.integer("output_dtype", 0) != 0) {
    std::optional<DataType> given = n.elementType("output_dtype");
    if (!given)
      return;
    result = *given;
  }
  DataType wide = computeType(result);
  Value *value;
  bool whole = isInteger(x->type().element);
  if (n.hasInput(2)) {
    Value *zero = lineUp(n, b, n.input(2), x, axis, block);
    DataType exact = whole ? DataType::I32 : wide;
    value = b.cast(b.sub(b.cast(x, exact), b.cast(zero, exact)), wide);
  } else {
    value = b.cast(x, wide);
  }
  Value *factor = b.cast(lineUp(n, b, scale, x, axis, block), wide);
  n.result(b.cast(b.mul(value, factor), result));
}

/// saturate(round(x / scale) + zero point), halves to even
void importQuantizeLinear(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *scale = n.input(1);
  int64_t axis = readAxis(n), block = readBlock(n);
  DataType result = DataType::U8;
  if (n.hasInput(2))
    result = n.input(2)->type().element;
  if (n.opset() >= 21 && n.integer("output_dtype", 0) != 0) {
    std::optional<DataType> given = n.elementType("output_dtype");
    if (!given)
      return;
    if (n.hasInput(2) && *given != result)
      return n.error("output_dtype is " + stringify(*given) +
                     ", the zero point is " + n.input(2)->type().str());
    result = *given;
  }
  if (n.opset() >= 19 && !n.flag("saturate", true) && isFloat(result))
    return n.error("saturate is 0, supported is 1");
  if (n.opset() >= 23)
    n.integer("precision", 0); // ours is never narrower
  Value *wide =
      isFloat(x->type().element) ? b.widen(x) : b.cast(x, DataType::F32);
  if (!wide)
    return;
  DataType type = wide->type().element;
  Value *y = b.div(wide, b.cast(lineUp(n, b, scale, x, axis, block), type));
  if (isInteger(result))
    y = b.emit<RoundOp>(y);
  if (n.hasInput(2))
    y = b.add(y, b.cast(lineUp(n, b, n.input(2), x, axis, block), type));
  n.result(b.cast(y, result)); // a cast to an integer saturates
}

/// u8 with a scale and zero point that cover the values and 0.
void importDynamicQuantizeLinear(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  std::vector<int64_t> axes = countingAxes(0, x->type().rank());
  Value *zero = b.like(x, 0), *most = b.like(x, 255);
  Value *high = b.max(b.reduce(x, ReduceKind::Max, axes, false), zero);
  Value *low = b.min(b.reduce(x, ReduceKind::Min, axes, false), zero);
  Value *scale = b.div(b.sub(high, low), most);
  Value *start = b.div(b.sub(zero, low), scale);
  Value *point = b.emit<RoundOp>(b.min(b.max(start, zero), most));
  Value *y = b.add(b.emit<RoundOp>(b.div(x, scale)), point);
  n.result(0, b.cast(y, DataType::U8));
  n.result(1, scale);
  n.result(2, b.cast(point, DataType::U8));
}

/// An i32 result scaled to the type of its zero point.
static Value *requantize(NodeReader &n, NodeBuilder &b, Value *sum,
                         Value *factor, unsigned zero) {
  if (n.failed())
    return nullptr;
  Value *point = n.input(zero);
  Value *real = b.emit<RoundOp>(b.mul(b.cast(sum, DataType::F32), factor));
  real = b.add(real, b.cast(b.reshape(point, {}), DataType::F32));
  return b.cast(real, point->type().element);
}

/// Scale or zero point as f32 or i32 that lines up with dimension `axis` of a
/// tensor of `rank`.
static Value *parameter(NodeReader &n, NodeBuilder &b, unsigned i,
                        DataType type, int64_t rank, int64_t axis) {
  Value *p = n.input(i);
  if (p->type().elementCount().isConstant(1))
    return b.cast(b.reshape(p, {}), type);
  if (p->type().rank() > 1 || axis >= rank) {
    if (p->type().rank() == rank) // spelled out by the model
      return b.cast(p, type);
    n.error("input " + llvm::Twine(i) + " has type " + p->type().str() +
            ", expected a scalar or a vector");
    return nullptr;
  }
  std::vector<Dim> shape(size_t(rank), Dim(1));
  shape[size_t(axis)] = p->type().shape[0];
  return b.cast(b.reshape(p, shape), type);
}

/// Products of integers, less their zero points, in i32.
void importQLinearMatMul(NodeReader &n, NodeBuilder &b) {
  const TensorType &left = n.input(0)->type(), &right = n.input(3)->type();
  if (left.rank() < 2 || right.rank() < 2)
    return n.error("operands are " + left.str() + " and " + right.str() +
                   ", expected matrices");
  for (unsigned i : {6u, 7u})
    if (!n.input(i)->type().elementCount().isConstant(1))
      return n.error("input " + llvm::Twine(i) + " has type " +
                     n.input(i)->type().str() + ", expected a scalar");
  DataType whole = DataType::I32, real = DataType::F32;
  int64_t row = left.rank() - 2, column = right.rank() - 1;
  Value *x = b.sub(b.cast(n.input(0), whole),
                   parameter(n, b, 2, whole, left.rank(), row));
  Value *y = b.sub(b.cast(n.input(3), whole),
                   parameter(n, b, 5, whole, right.rank(), column));
  Value *sum = b.emit<MatMulOp>(x, y, false, false, whole);
  Value *factor = b.mul(parameter(n, b, 1, real, left.rank(), row),
                        parameter(n, b, 4, real, right.rank(), column));
  factor = b.div(factor, b.cast(b.reshape(n.input(6), {}), real));
  n.result(requantize(n, b, sum, factor, 7));
}

void importQLinearConv(NodeReader &n, NodeBuilder &b) {
  DataType whole = DataType::I32, real = DataType::F32;
  int64_t rank = n.input(0)->type().rank();
  for (unsigned i : {1u, 2u, 6u, 7u})
    if (!n.input(i)->type().elementCount().isConstant(1))
      return n.error("input " + llvm::Twine(i) + " has type " +
                     n.input(i)->type().str() + ", expected a scalar");
  Value *x =
      b.sub(b.cast(n.input(0), whole), parameter(n, b, 2, whole, rank, 1));
  Value *w =
      b.sub(b.cast(n.input(3), whole), parameter(n, b, 5, whole, rank, 0));
  Value *sum = convolve(n, b, x, w, whole);
  if (n.hasInput(8))
    sum = b.add(sum, parameter(n, b, 8, whole, rank, 1));
  Value *factor = b.mul(parameter(n, b, 1, real, rank, 1),
                        parameter(n, b, 4, real, rank, 1));
  factor = b.div(factor, b.cast(b.reshape(n.input(6), {}), real));
  n.result(requantize(n, b, sum, factor, 7));
}

} // namespace dlc
