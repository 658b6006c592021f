// SPDX-License-Identifier: Apache-2.0
// Questions about values that several passes ask.
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace dlc {

std::optional<Constant> constantOf(const Value *value) {
  if (!value)
    return std::nullopt;
  if (auto op = llvm::dyn_cast_if_present<ConstantOp>(value->definingOp()))
    return op.value();
  return std::nullopt;
}

bool isConstantValue(const Value *value) {
  return value && value->definingOp() &&
         value->definingOp()->kind() == OpKind::Constant;
}

std::optional<double> uniformOf(const Value *value) {
  std::optional<Constant> constant = constantOf(value);
  return constant ? constant->uniformValue() : std::nullopt;
}

bool sameShape(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

std::optional<Shape> broadcastShapes(llvm::ArrayRef<Shape> shapes) {
  size_t rank = 0;
  for (const Shape &shape : shapes)
    rank = std::max(rank, shape.size());
  Shape result(rank, Dim(1));
  for (const Shape &shape : shapes)
    for (size_t i = 0; i < shape.size(); ++i) {
      Dim &dim = result[rank - shape.size() + i];
      if (shape[i].isConstant(1) || dim == shape[i])
        continue;
      if (!dim.isConstant(1))
        return std::nullopt;
      dim = shape[i];
    }
  return result;
}

std::optional<std::vector<int64_t>> constantDims(llvm::ArrayRef<Dim> dims) {
  std::vector<int64_t> result;
  for (const Dim &dim : dims) {
    if (!dim.isConstant())
      return std::nullopt;
    result.push_back(dim.constant());
  }
  return result;
}

std::vector<int64_t> normalAxes(llvm::ArrayRef<int64_t> axes, int64_t rank) {
  std::vector<int64_t> result;
  for (int64_t axis : axes)
    result.push_back(normalAxis(axis, rank));
  llvm::sort(result);
  return result;
}

bool isPlusZeroOrMore(const Value *value, unsigned depth) {
  if (std::optional<double> c = uniformOf(value))
    return *c >= 0 && !std::signbit(*c);
  Op *op = value->definingOp();
  if (!op || depth == 0)
    return false;
  auto operand = [&](unsigned i) {
    return isPlusZeroOrMore(op->operand(i), depth - 1);
  };
  switch (op->kind()) {
  case OpKind::Abs:
  case OpKind::Exp:
  case OpKind::Sigmoid:
    return true;
  case OpKind::Mul:
    return op->operand(0) == op->operand(1) || (operand(0) && operand(1));
  case OpKind::Add:
  case OpKind::Div:
    return operand(0) && operand(1);
  case OpKind::Max: {
    std::optional<double> bound = uniformOf(op->operand(1));
    return (bound && *bound > 0) || (operand(0) && operand(1));
  }
  case OpKind::Reduce: {
    // A maximum over nothing is -inf.
    ReduceKind kind = ReduceOp(op).kind();
    return (kind == ReduceKind::Sum || kind == ReduceKind::Prod) && operand(0);
  }
  case OpKind::Pool:
  case OpKind::Reshape:
  case OpKind::Transpose:
  case OpKind::Broadcast:
  case OpKind::Slice:
  case OpKind::Convert:
    return operand(0);
  default:
    return false;
  }
}

bool sameMemory(const TensorType &type, const Layout &other) {
  if (type.layout == other)
    return true;
  if (!type.layout.isPermutation() || !other.isPermutation())
    return false;
  auto order = [&](const Layout &layout) {
    llvm::SmallVector<int64_t, 6> dims;
    for (int64_t d : layout.order(type.rank())) {
      if (layout.padding(d) != 1)
        return std::optional<llvm::SmallVector<int64_t, 6>>();
      if (!type.shape[size_t(d)].isConstant(1))
        dims.push_back(d);
    }
    return std::optional(dims);
  };
  auto a = order(type.layout), b = order(other);
  return a && b && *a == *b;
}

double largestFinite(DataType type) {
  switch (type) {
  case DataType::F64:
    return 0x1.fffffffffffffp1023;
  case DataType::F32:
    return 0x1.fffffep127;
  case DataType::BF16:
    return 0x1.fep127;
  case DataType::F16:
    return 65504;
  case DataType::F8E4M3:
    return 448;
  case DataType::F8E5M2:
    return 57344;
  default:
    return 0;
  }
}

double smallestNormal(DataType type) {
  switch (type) {
  case DataType::F64:
    return 0x1p-1022;
  case DataType::F32:
  case DataType::BF16:
    return 0x1p-126;
  case DataType::F16:
    return 0x1p-14;
  case DataType::F8E4M3:
    return 0x1p-6;
  case DataType::F8E5M2:
    return 0x1p-14;
  default:
    return 0;
  }
}

bool isLiteral(const Value *value) {
  const Op *op = value ? value->definingOp() : nullptr;
  return op && (op->kind() == OpKind::Constant || op->kind() == OpKind::Dims) &&
         value->type().elementCount().isConstant(1);
}

bool isFreeToRepeat(const Op &op) {
  if (op.kind() == OpKind::Convert)
    return bitWidth(op.operand(0)->type().element) <
           bitWidth(op.result()->type().element);
  return (op.hasTrait(OpTrait::View) && op.numOperands() == 1) ||
         op.kind() == OpKind::Iota || op.kind() == OpKind::Dims ||
         (op.hasTrait(OpTrait::Pointwise) &&
          llvm::all_of(op.operands(), isLiteral));
}

bool usedOnlyBy(const Value *value, const Op *user) {
  return !value->isOutput() && llvm::all_of(value->uses(), [&](const Use &use) {
    return use.op == user;
  });
}

bool isReadByHero(const Value *value) {
  return llvm::any_of(value->uses(), [](const Use &use) {
    OpKind kind = use.op->kind();
    return kind == OpKind::Conv || kind == OpKind::ConvTranspose ||
           kind == OpKind::MatMul || kind == OpKind::Pool ||
           kind == OpKind::Attention;
  });
}

} // namespace dlc
