// SPDX-License-Identifier: Apache-2.0
// The building blocks of compositions.
#include "compiler/onnx/NodeBuilder.h"
#include "compiler/onnx/Assume.h"
#include <numeric>

using namespace dlc;

std::vector<int64_t> dlc::countingAxes(int64_t first, int64_t end) {
  std::vector<int64_t> axes;
  for (int64_t i = first; i < end; ++i)
    axes.push_back(i);
  return axes;
}

bool NodeBuilder::isValid(const Op &op) {
  if (llvm::Error e = verifyOp(op)) {
    node.error(std::move(e));
    return false;
  }
  for (unsigned i = 0; i < op.numResults(); ++i) {
    const TensorType &type = op.result(i)->type();
    Dim count = type.elementCount();
    bool negative = llvm::any_of(type.shape, [](const Dim &d) {
      return d.isConstant() && d.constant() < 0;
    });
    if (negative)
      node.error("a dimension of its result is negative: " + type.str());
    else if (count.overflowed() ||
             (count.isConstant() && count.constant() > INT64_MAX / 8))
      node.error("its result has more than 2^60 elements: " + type.str());
    else
      continue;
    return false;
  }
  return true;
}

Value *NodeBuilder::constant(Constant value) {
  return node.failed() ? nullptr : builder.constant(std::move(value));
}

Value *NodeBuilder::scalar(DataType element, double value) {
  return node.failed() ? nullptr : builder.scalar(element, value);
}

Value *NodeBuilder::like(Value *x, double value) {
  return node.failed() ? nullptr : scalar(x->type().element, value);
}

Value *NodeBuilder::ints(llvm::ArrayRef<int64_t> values) {
  return constant(Constant::fromInts(
      TensorType(DataType::I64, {Dim(int64_t(values.size()))}), values));
}

Value *NodeBuilder::dim(const Dim &d, DataType element) {
  if (node.failed())
    return nullptr;
  if (d.isConstant())
    return isFloat(element) ? scalar(element, double(d.constant()))
                            : constant(Constant::fromInts(
                                  TensorType(element, {}), {d.constant()}));
  std::vector<Dim> one{d};
  return cast(emit<DimsOp>(one, /*scalar=*/true), element);
}

Value *NodeBuilder::dims(llvm::ArrayRef<Dim> values) {
  if (node.failed())
    return nullptr;
  if (llvm::all_of(values, [](const Dim &d) { return d.isConstant(); })) {
    std::vector<int64_t> numbers;
    for (const Dim &d : values)
      numbers.push_back(d.constant());
    return ints(numbers);
  }
  return emit<DimsOp>(values);
}

Value *NodeBuilder::cast(Value *x, DataType to) {
  if (node.failed())
    return nullptr;
  return x->type().element == to ? x : emit<CastOp>(x, to);
}

Value *NodeBuilder::widen(Value *x) {
  if (node.failed())
    return nullptr;
  return cast(x, computeType(x->type().element));
}

Value *NodeBuilder::reshape(Value *x, llvm::ArrayRef<Dim> shape) {
  if (node.failed())
    return nullptr;
  return llvm::ArrayRef<Dim>(x->type().shape) == shape
             ? x
             : emit<ReshapeOp>(x, shape);
}

Value *NodeBuilder::transpose(Value *x, llvm::ArrayRef<int64_t> permutation) {
  if (node.failed())
    return nullptr;
  for (size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != int64_t(i))
      return emit<TransposeOp>(x, permutation);
  return x;
}

Value *NodeBuilder::broadcast(Value *x, llvm::ArrayRef<Dim> shape) {
  if (node.failed())
    return nullptr;
  return llvm::ArrayRef<Dim>(x->type().shape) == shape
             ? x
             : emit<BroadcastOp>(x, shape);
}

Value *NodeBuilder::stretch(Value *x, llvm::ArrayRef<Dim> shape) {
  if (node.failed())
    return nullptr;
  const Shape from = x->type().shape;
  size_t offset = shape.size() - from.size();
  std::vector<Dim> low(from.size()), high = low;
  bool open = false;
  for (size_t i = 0; i < from.size(); ++i) {
    const Dim &has = from[i], &wants = shape[offset + i];
    if (has.isConstant(1) || has == wants)
      continue;
    assumeRepeats(node, has, wants, int64_t(i));
    // Where there is one element, it is the last one, too.
    high[i] = wants - has;
    if (!node.context.known.isAtLeast(wants, 1))
      high[i] = dlc::max(high[i], 0); // one element, repeated not once
    open = true;
  }
  if (open)
    x = emit<PadOp>(x, nullptr, low, high, PadMode::Edge);
  for (size_t i = 0; i < from.size() && open && !node.failed(); ++i)
    if (high[i].kind() == Dim::Kind::Max)
      x = slice(x, int64_t(i), 0, shape[offset + i]);
  return broadcast(x, shape);
}

/// Is its value known on the host before the run?
static bool isOfHost(const Dim &d, const SymbolTable &symbols) {
  bool known = true;
  d.forEachSymbol([&](llvm::StringRef name) {
    auto symbol = symbols.find(name);
    known &= symbol != symbols.end() &&
             symbol->second.home == SymbolHome::HostArgument;
  });
  return known;
}

void NodeBuilder::lineUp(llvm::MutableArrayRef<Value *> operands) {
  int64_t rank = 0;
  for (Value *v : operands)
    rank = std::max(rank, v ? v->type().rank() : 0);
  for (int64_t back = 1; back <= rank && !node.failed(); ++back) {
    auto size = [&](Value *v) {
      return v && back <= v->type().rank() ? v->type().dim(-back) : Dim(1);
    };
    const auto *fixed = llvm::find_if(operands, [&](Value *v) {
      return size(v).isConstant() && size(v).constant() > 1;
    });
    if (fixed == operands.end())
      continue;
    Dim whole = size(*fixed);
    for (Value *&v : operands) {
      Dim has = size(v);
      if (has.isConstant() || node.context.known.isAtLeast(has, 2) ||
          !isOfHost(has, node.context.module.symbols))
        continue;
      std::vector<Dim> shape(v->type().shape.begin(), v->type().shape.end());
      shape[shape.size() - size_t(back)] = whole;
      v = stretch(v, shape);
    }
  }
}

Value *NodeBuilder::slice(Value *x, int64_t axis, const Dim &start,
                          const Dim &size) {
  if (node.failed())
    return nullptr;
  const Shape &shape = x->type().shape;
  if (start.isConstant(0) && size == shape[axis])
    return x;
  std::vector<Dim> starts(shape.size()), sizes(shape.begin(), shape.end());
  std::vector<int64_t> steps(shape.size(), 1);
  starts[axis] = start;
  sizes[axis] = size;
  return emit<SliceOp>(x, starts, sizes, steps);
}

Value *NodeBuilder::unsqueeze(Value *x, llvm::ArrayRef<int64_t> axes) {
  if (node.failed())
    return nullptr;
  std::vector<Dim> shape;
  size_t rank = x->type().shape.size() + axes.size(), from = 0;
  for (size_t i = 0; i < rank; ++i)
    shape.push_back(llvm::is_contained(axes, int64_t(i))
                        ? Dim(1)
                        : x->type().shape[from++]);
  return reshape(x, shape);
}

Value *NodeBuilder::concat(llvm::ArrayRef<Value *> parts, int64_t axis) {
  if (node.failed())
    return nullptr;
  return parts.size() == 1 ? parts[0] : emit<ConcatOp>(parts, axis);
}

Value *NodeBuilder::perChannel(Value *x, int64_t rank) {
  if (node.failed())
    return nullptr;
  std::vector<Dim> shape{x->type().shape[0]};
  shape.resize(size_t(std::max<int64_t>(1, rank - 1)), Dim(1));
  return reshape(x, shape);
}

Value *NodeBuilder::reduce(Value *x, ReduceKind kind,
                           llvm::ArrayRef<int64_t> axes, bool keepDims) {
  return emit<ReduceOp>(x, kind, axes, keepDims);
}

Value *NodeBuilder::mean(Value *x, llvm::ArrayRef<int64_t> axes,
                         bool keepDims) {
  if (node.failed())
    return nullptr;
  Dim count(1);
  for (int64_t axis : axes)
    count = count * x->type().shape[axis];
  return div(reduce(x, ReduceKind::Sum, axes, keepDims),
             dim(count, x->type().element));
}

Value *NodeBuilder::normalize(Value *x, llvm::ArrayRef<int64_t> axes,
                              double epsilon, Value **meanOut,
                              Value **inverseOut) {
  Value *wide = widen(x);
  Value *average = mean(wide, axes);
  Value *centred = sub(wide, average);
  Value *variance = mean(mul(centred, centred), axes);
  Value *inverse = emit<RsqrtOp>(addTo(variance, epsilon));
  if (meanOut)
    *meanOut = average;
  if (inverseOut)
    *inverseOut = inverse;
  return mul(centred, inverse);
}

Value *NodeBuilder::softmax(Value *x, llvm::ArrayRef<int64_t> axes) {
  if (node.failed())
    return nullptr;
  Value *wide = widen(x);
  Value *shifted = sub(wide, reduce(wide, ReduceKind::Max, axes));
  Value *powers = emit<ExpOp>(shifted);
  Value *share = div(powers, reduce(powers, ReduceKind::Sum, axes));
  return cast(share, x->type().element);
}

Value *NodeBuilder::logSoftmax(Value *x, llvm::ArrayRef<int64_t> axes) {
  if (node.failed())
    return nullptr;
  Value *wide = widen(x);
  Value *shifted = sub(wide, reduce(wide, ReduceKind::Max, axes));
  Value *sum = reduce(emit<ExpOp>(shifted), ReduceKind::Sum, axes);
  return cast(sub(shifted, emit<LogOp>(sum)), x->type().element);
}
