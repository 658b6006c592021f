// SPDX-License-Identifier: Apache-2.0
// Folds the small subgraphs that an import depends on.
#include "compiler/onnx/KnownValues.h"
#include "ir/ShapeValue.h"
#include "ir/reference/Evaluator.h"
#include "llvm/ADT/DenseSet.h"

using namespace dlc;

static constexpr int64_t kLargestEvaluated = int64_t(1) << 20; // elements
static constexpr int64_t kLargestDims = 4096;

static bool isSmall(const TensorType &type, int64_t limit) {
  std::optional<int64_t> count = type.elementCount().tryConstant();
  return type.isStatic() && count && *count <= limit;
}

std::optional<Constant> KnownValues::constant(Value *value) {
  // Depth first with an explicit stack: chains of constants can be long.
  llvm::SmallVector<Value *, 16> stack{value};
  llvm::DenseSet<Value *> entered;
  while (!stack.empty()) {
    Value *v = stack.back();
    Op *op = v ? v->definingOp() : nullptr;
    if (!v || constants.count(v)) {
      stack.pop_back();
      continue;
    }
    if (!op) {
      constants[v] = std::nullopt;
    } else if (auto source = llvm::dyn_cast<ConstantOp>(op)) {
      constants[v] = source.value();
    } else if (!op->hasTrait(OpTrait::Pure) || op->numRegions() ||
               !isSmall(v->type(), kLargestEvaluated)) {
      constants[v] = std::nullopt;
    } else if (entered.insert(v).second) {
      for (Value *operand : op->operands())
        if (operand && !constants.count(operand))
          stack.push_back(operand);
      continue; // again when the operands are known
    } else {
      constants[v] = evaluate(op, v->index());
    }
    stack.pop_back();
  }
  return constants[value];
}

std::optional<Constant> KnownValues::evaluate(Op *op, unsigned result) {
  if (auto dims = llvm::dyn_cast<DimsOp>(op)) {
    std::vector<int64_t> values;
    for (const Dim &d : dims.values()) {
      if (!d.isConstant())
        return std::nullopt;
      values.push_back(d.constant());
    }
    return Constant::fromInts(op->result()->type(), values);
  }
  std::vector<reference::Tensor> tensors;
  std::vector<const reference::Tensor *> inputs;
  tensors.reserve(op->numOperands());
  for (Value *operand : op->operands()) {
    if (!operand) {
      inputs.push_back(nullptr);
      continue;
    }
    const std::optional<Constant> &known = constants[operand];
    if (!known || known->elements() > kLargestEvaluated)
      return compare(op);
    tensors.push_back(reference::Tensor::fromConstant(*known));
    inputs.push_back(&tensors.back());
  }
  auto results =
      reference::evaluateOp(*op, inputs, reference::Precision::AsTyped, {});
  if (!results) {
    llvm::consumeError(results.takeError());
    return std::nullopt;
  }
  return (*results)[result].toConstant();
}

std::optional<Constant> KnownValues::compare(Op *op) {
  OpKind kind = op->kind();
  if (kind != OpKind::Equal && kind != OpKind::Less &&
      kind != OpKind::LessEqual)
    return std::nullopt;
  std::optional<std::vector<Dim>> lhs = dims(op->operand(0)),
                                  rhs = dims(op->operand(1));
  if (!lhs || !rhs || !isInteger(op->operand(0)->type().element))
    return std::nullopt;
  size_t count = std::max(lhs->size(), rhs->size());
  if ((lhs->size() != count && lhs->size() != 1) ||
      (rhs->size() != count && rhs->size() != 1) ||
      !op->result()->type().elementCount().isConstant(int64_t(count)))
    return std::nullopt;
  std::vector<int64_t> answers;
  for (size_t i = 0; i < count; ++i) {
    const Dim &a = (*lhs)[lhs->size() == 1 ? 0 : i];
    const Dim &b = (*rhs)[rhs->size() == 1 ? 0 : i];
    bool less = isAtLeast(b - a, 1), lessEqual = isAtLeast(b - a, 0);
    bool greater = isAtLeast(a - b, 1), greaterEqual = isAtLeast(a - b, 0);
    bool yes = kind == OpKind::Equal  ? a == b
               : kind == OpKind::Less ? less
                                      : lessEqual;
    bool no = kind == OpKind::Equal  ? less || greater
              : kind == OpKind::Less ? greaterEqual
                                     : greater;
    if (yes == no)
      return std::nullopt;
    answers.push_back(yes);
  }
  return Constant::fromInts(op->result()->type(), answers);
}

std::optional<std::vector<Dim>> KnownValues::dims(Value *value) {
  if (!isSmall(value->type(), kLargestDims))
    return std::nullopt;
  bool isReal = isFloat(value->type().element);
  if (std::optional<std::vector<Dim>> known = shapeValue(value))
    return known;
  if (std::optional<Constant> known = constant(value); known && !isReal) {
    std::vector<Dim> dims;
    for (int64_t i : known->toInts())
      dims.push_back(i);
    return dims;
  }
  std::optional<Ratios> known = ratios(value, 0);
  if (!known)
    return std::nullopt;
  std::vector<Dim> dims;
  for (const Ratio &r : *known) {
    if (r.denominator != 1)
      return std::nullopt;
    dims.push_back(r.numerator);
  }
  return dims;
}

std::optional<std::vector<int64_t>> KnownValues::ints(Value *value) {
  std::optional<std::vector<Dim>> known = dims(value);
  if (!known)
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Dim &d : *known) {
    if (!d.isConstant())
      return std::nullopt;
    numbers.push_back(d.constant());
  }
  return numbers;
}

std::string KnownValues::whyUnknown(Value *value) const {
  llvm::SmallVector<const Value *, 16> stack{value};
  llvm::DenseSet<const Value *> seen;
  std::string fallback;
  while (!stack.empty()) {
    const Value *v = stack.pop_back_val();
    if (!v || !seen.insert(v).second)
      continue;
    const Op *op = v->definingOp();
    if (!op) {
      if (!v->name.empty())
        return "it is computed from the values of input \"" + v->name +
               "\", which are only known at run time, unless --bind makes it "
               "a constant";
      fallback = "it is computed inside a branch or loop from values that are "
                 "only known at run time";
      continue;
    }
    if (op->operands().empty() && op->kind() == OpKind::Dims)
      fallback = "it depends on a symbolic dimension";
    for (const Value *operand : llvm::reverse(op->operands()))
      stack.push_back(operand);
  }
  return fallback.empty() ? "its value cannot be computed" : fallback;
}

bool KnownValues::isAtLeast(const Dim &d, int64_t bound) const {
  std::optional<int64_t> least =
      d.isConstant() ? d.tryConstant() : lowerBound(d, symbols);
  return least && *least >= bound;
}

Dim KnownValues::clamp(const Dim &d, const Dim &limit) const {
  return atLeast(isAtMost(d, limit)   ? d
                 : isAtMost(limit, d) ? limit
                                      : min(d, limit),
                 0);
}

Dim KnownValues::atLeast(const Dim &d, int64_t bound) const {
  if (isAtLeast(d, bound))
    return simplify(d, symbols);
  return simplify(max(d, Dim(bound)), symbols);
}
