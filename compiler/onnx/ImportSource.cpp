// SPDX-License-Identifier: Apache-2.0
// Operators that make tensors: from nothing, from shapes, from positions.
#include "compiler/onnx/Operators.h"
#include <cmath>

using namespace dlc;

namespace dlc {

void importConstant(NodeReader &n, NodeBuilder &b) {
  using A = onnx::AttributeProto;
  int64_t opset = n.opset();
  auto vector = [](DataType type, size_t size) {
    return TensorType(type, {Dim(int64_t(size))});
  };
  auto finish = [&](llvm::Expected<Constant> value) {
    if (!value)
      return n.error(value.takeError());
    n.result(b.constant(std::move(*value)));
  };
  if (n.proto().attribute_size() != 1)
    return n.error("has " + llvm::Twine(n.proto().attribute_size()) +
                   " attributes, expected one value");
  if (const A *a = n.attribute("value", A::TENSOR))
    return finish(n.context.tensors.read(a->t()));
  if (opset >= 11)
    if (const A *a = n.attribute("sparse_value", A::SPARSE_TENSOR))
      return finish(n.context.tensors.read(a->sparse_tensor()));
  if (opset < 12)
    return;
  if (const A *a = n.attribute("value_float", A::FLOAT))
    return n.result(b.scalar(DataType::F32, a->f()));
  if (n.has("value_floats")) {
    std::vector<double> values = n.reals("value_floats");
    return finish(
        Constant::fromFloats(vector(DataType::F32, values.size()), values));
  }
  if (const A *a = n.attribute("value_int", A::INT))
    return finish(Constant::fromInts(TensorType(DataType::I64, {}), {a->i()}));
  if (n.has("value_ints"))
    return n.result(b.ints(n.integers("value_ints")));
  if (n.has("value_string") || n.has("value_strings"))
    n.error(unsupportedType(8));
}

void importConstantOfShape(NodeReader &n, NodeBuilder &b) {
  std::optional<std::vector<Dim>> shape = n.dims(0, "shape");
  const auto *value = n.attribute("value", onnx::AttributeProto::TENSOR);
  if (!shape || n.failed())
    return;
  for (const Dim &d : *shape)
    if (d.isConstant() && d.constant() < 0)
      return n.error("shape holds " + d.str() + ", expected sizes");
  Constant fill = Constant::scalar(DataType::F32, 0);
  if (value) {
    llvm::Expected<Constant> read = n.context.tensors.read(value->t());
    if (!read)
      return n.error(read.takeError());
    if (read->elements() != 1)
      return n.error("attribute \"value\" has " +
                     llvm::Twine(read->elements()) + " elements, expected one");
    fill = Constant::fromBytes(TensorType(read->type().element, {}),
                               read->expandedBytes());
  }
  n.result(b.broadcast(b.constant(fill), *shape));
}

void importShape(NodeReader &n, NodeBuilder &b) {
  llvm::ArrayRef<Dim> shape(n.input(0)->type().shape);
  int64_t rank = int64_t(shape.size()), start = 0, end = rank;
  if (n.opset() >= 15) {
    auto bound = [&](llvm::StringRef name, int64_t otherwise) {
      int64_t i = n.integer(name, otherwise);
      return std::max<int64_t>(0, std::min(rank, i < 0 ? i + rank : i));
    };
    start = bound("start", 0);
    end = std::max(start, bound("end", rank));
  }
  n.result(b.dims(shape.slice(size_t(start), size_t(end - start))));
}

void importSize(NodeReader &n, NodeBuilder &b) {
  n.result(b.dim(n.input(0)->type().elementCount(), DataType::I64));
}

/// start, start + delta, ... below limit.
void importRange(NodeReader &n, NodeBuilder &b) {
  static constexpr llvm::StringLiteral names[] = {"start", "limit", "delta"};
  DataType type = n.input(0)->type().element;
  if (n.opset() >= 27)
    n.integer("stash_type", 1); // of half types, whose steps we take in f32
  std::vector<Dim> whole;
  std::vector<double> real;
  for (unsigned i = 0; i < 3; ++i) {
    Value *x = n.input(i);
    if (x->type().element != type || !x->type().elementCount().isConstant(1))
      return n.error("input " + llvm::Twine(i) + " (" + names[i] +
                     ") has type " + x->type().str() +
                     ", expected a scalar of " + stringify(type));
    if (std::optional<std::vector<Dim>> dims = n.context.known.dims(x)) {
      whole.push_back(dims->front());
      if (dims->front().isConstant())
        real.push_back(double(dims->front().constant()));
      continue;
    }
    std::optional<Constant> value = n.constant(i, names[i]);
    if (!value)
      return;
    real.push_back(value->floatAt(0));
  }
  Dim size;
  if (whole.size() == 3) {
    if (!whole[2].isConstant() || whole[2].isConstant(0))
      return n.error("input 2 (delta) is " + whole[2].str() +
                     ", expected a number other than 0");
    int64_t step = whole[2].constant();
    Dim length = step > 0 ? whole[1] - whole[0] : whole[0] - whole[1];
    size = n.context.known.atLeast(ceilDiv(length, step > 0 ? step : -step), 0);
  } else if (real.size() == 3) {
    double count = std::ceil((real[1] - real[0]) / real[2]);
    if (!(std::fabs(count) < 9e15))
      return n.error("the range has no size");
    size = Dim(std::max<int64_t>(0, int64_t(count)));
  } else {
    return n.error(
        "the size of the range cannot be told: start, limit and delta "
        "mix fractions and symbolic dimensions");
  }
  DataType wide = computeType(type);
  std::vector<Dim> shape{size};
  Value *index = b.cast(b.emit<IotaOp>(shape, 0, DataType::I64), wide);
  Value *step = b.widen(b.reshape(n.input(2), {}));
  Value *start = b.widen(b.reshape(n.input(0), {}));
  if (!(whole.size() == 3 && whole[2].isConstant(1)))
    index = b.mul(index, step);
  if (!(whole.size() == 3 && whole[0].isConstant(0)))
    index = b.add(index, start);
  n.result(b.cast(index, type));
}

/// row + offset <= column, or the like, as a mask over the last two dimensions.
struct Diagonal {
  Value *row, *column; // i64, [R, 1] and [1, C]
};
static Diagonal diagonal(NodeBuilder &b, const Dim &rows, const Dim &columns,
                         Value *offset) {
  std::vector<Dim> down{rows, Dim(1)}, across{Dim(1), columns};
  Value *row = b.emit<IotaOp>(down, 0, DataType::I64);
  if (offset)
    row = b.add(row, offset);
  return {row, b.emit<IotaOp>(across, 1, DataType::I64)};
}

void importEyeLike(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t k = n.integer("k", 0);
  DataType type = x->type().element;
  if (n.has("dtype")) {
    std::optional<DataType> given = n.elementType("dtype");
    if (!given)
      return;
    type = *given;
  }
  if (x->type().rank() != 2)
    return n.error("input 0 has type " + x->type().str() +
                   ", expected a matrix");
  Value *offset = k ? b.dim(Dim(k), DataType::I64) : nullptr;
  Diagonal d = diagonal(b, x->type().shape[0], x->type().shape[1], offset);
  n.result(b.cast(b.emit<EqualOp>(d.row, d.column), type));
}

void importTrilu(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *offset = nullptr;
  bool upper = n.flag("upper", true);
  if (x->type().rank() < 2)
    return n.error("input 0 has type " + x->type().str() +
                   ", expected a matrix or a batch of them");
  if (n.hasInput(1)) {
    offset = n.input(1);
    if (!offset->type().elementCount().isConstant(1))
      return n.error("input 1 (k) has type " + offset->type().str() +
                     ", expected a scalar");
    offset = b.cast(b.reshape(offset, {}), DataType::I64);
  }
  Diagonal d = diagonal(b, x->type().dim(-2), x->type().dim(-1), offset);
  Value *keep = upper ? b.emit<LessEqualOp>(d.row, d.column)
                      : b.emit<LessEqualOp>(d.column, d.row);
  n.result(b.select(keep, x, b.like(x, 0)));
}

/// values[1] where the position along `axis` is the index, else values[0].
void importOneHot(NodeReader &n, NodeBuilder &b) {
  Value *indices = n.input(0), *values = n.input(2);
  int64_t rank = indices->type().rank();
  int64_t axis = n.axis("axis", -1, rank + 1);
  std::optional<std::vector<Dim>> depth = n.context.known.dims(n.input(1));
  if (!depth) {
    std::optional<Constant> number = n.constant(1, "depth");
    if (!number || number->elements() != 1)
      return;
    depth.emplace(1, Dim(int64_t(number->floatAt(0))));
  }
  if (depth->size() != 1 || !values->type().elementCount().isConstant(2))
    return n.error("depth is " + n.input(1)->type().str() + " and values " +
                   values->type().str() + ", expected one and two elements");
  const Dim &size = depth->front();
  if (n.failed())
    return;
  if (size.isConstant() && size.constant() < 1)
    return n.error("depth is " + size.str() + ", expected 1 or more");
  Value *index = b.unsqueeze(b.cast(indices, DataType::I64), {axis});
  Value *zero = b.scalar(DataType::I64, 0);
  index = b.select(b.emit<LessOp>(index, zero),
                   b.add(index, b.dim(size, DataType::I64)), index);
  std::vector<Dim> counting(size_t(rank + 1), Dim(1));
  counting[size_t(axis)] = size;
  Value *hit =
      b.emit<EqualOp>(index, b.emit<IotaOp>(counting, axis, DataType::I64));
  Value *pair = b.reshape(values, {Dim(2)});
  Value *off = b.reshape(b.slice(pair, 0, 0, 1), {});
  Value *on = b.reshape(b.slice(pair, 0, 1, 1), {});
  n.result(b.select(hit, on, off));
}

} // namespace dlc
