// SPDX-License-Identifier: Apache-2.0
// Integer tensors whose elements are known as dimension expressions.
#include "ir/ShapeValue.h"

#include "ir/AccessMap.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace dlc {

namespace {

using Elements = std::optional<std::vector<Dim>>;
constexpr int64_t maxElements = 4096;

class Evaluator {
public:
  explicit Evaluator(const Value *value) {
    const Graph *graph =
        value->definingOp() ? value->definingOp()->parent() : value->inputOf();
    if (const Module *module = graph ? graph->module() : nullptr)
      symbols = &module->symbols;
  }

  Elements evaluate(const Value *value) {
    const TensorType &type = value->type();
    if (!value->definingOp() || !isInteger(type.element) || !type.isStatic() ||
        type.elementCount().overflowed() ||
        type.elementCount().constant() > maxElements)
      return std::nullopt;
    auto [it, isNew] = known.try_emplace(value);
    if (!isNew)
      return it->second;
    Elements result = compute(*value->definingOp());
    if (result)
      for (const Dim &d : *result)
        if (d.overflowed() || !fits(type.element, d))
          result = std::nullopt;
    return known[value] = std::move(result);
  }

private:
  /// Narrow types wrap, expressions do not.
  bool fits(DataType type, const Dim &d) const {
    unsigned bits = bitWidth(type);
    if (bits == 64 && isSigned(type))
      return true;
    if (std::optional<int64_t> c = d.tryConstant()) {
      uint8_t stored[8] = {};
      storeInt(type, stored, 0, *c);
      return loadInt(type, stored, 0) == *c && (isSigned(type) || *c >= 0);
    }
    // Sizes are far below 2^31.
    return bits >= 32 && (isSigned(type) || isNonNegativeSize(d));
  }

  bool isNonNegativeSize(const Dim &d) const {
    static const SymbolTable none;
    // A symbol is a size.
    SymbolTable table = symbols ? *symbols : none;
    d.forEachSymbol([&](llvm::StringRef name) {
      Symbol s;
      s.name = name.str();
      table.emplace(s.name, s);
    });
    return isNonNegative(d, table);
  }

  Elements compute(const Op &op) {
    Op *mutableOp = const_cast<Op *>(&op);
    if (auto constant = llvm::dyn_cast<ConstantOp>(mutableOp)) {
      if (!constant.value().type().layout.isRowMajor())
        return std::nullopt;
      std::vector<Dim> result;
      for (int64_t i = 0; i != constant.value().elements(); ++i)
        result.push_back(constant.value().intAt(i));
      return result;
    }
    if (auto dims = llvm::dyn_cast<DimsOp>(mutableOp))
      return dims.values();
    if (auto iota = llvm::dyn_cast<IotaOp>(mutableOp))
      return forEachIndex(
          op, [&](llvm::ArrayRef<Dim> index) { return index[iota.axis()]; });
    if (op.hasTrait(OpTrait::View))
      return view(op);
    if (auto gather = llvm::dyn_cast<GatherOp>(mutableOp))
      return gatherElements(gather);
    if (auto reduce = llvm::dyn_cast<ReduceOp>(mutableOp))
      return reduction(reduce);
    if (auto select = llvm::dyn_cast<SelectOp>(mutableOp))
      return selection(select);
    if (op.kind() == OpKind::Cast)
      return evaluate(op.operand(0));
    if (op.hasTrait(OpTrait::Pointwise))
      return pointwise(op);
    return std::nullopt;
  }

  /// One element per coordinate of the result; nothing once `fn` gives nothing.
  template <class Fn> Elements forEachIndex(const Op &op, Fn fn) {
    llvm::ArrayRef<Dim> shape = op.result()->type().shape;
    int64_t count = op.result()->type().elementCount().constant();
    std::vector<Dim> result;
    Shape index(shape.size(), 0);
    for (int64_t i = 0; i != count; ++i) {
      std::optional<Dim> element = fn(llvm::ArrayRef<Dim>(index));
      if (!element)
        return std::nullopt;
      result.push_back(*element);
      for (size_t d = shape.size(); d-- != 0;) {
        index[d] = index[d] + 1;
        if (index[d] != shape[d])
          break;
        index[d] = 0;
      }
    }
    return result;
  }

  /// Row-major position; nothing where it is not constant or outside.
  static std::optional<int64_t> position(llvm::ArrayRef<Dim> shape,
                                         llvm::ArrayRef<Dim> index) {
    int64_t linear = 0;
    for (size_t d = 0; d != shape.size(); ++d) {
      std::optional<int64_t> i = index[d].tryConstant();
      int64_t size = shape[d].constant();
      if (!i || *i < 0 || *i >= size)
        return std::nullopt;
      linear = linear * size + *i;
    }
    return linear;
  }

  Elements view(const Op &op) {
    llvm::SmallVector<std::vector<Dim>, 4> inputs;
    for (Value *v : op.operands()) {
      Elements e = v ? evaluate(v) : Elements(std::vector<Dim>{0});
      if (!e)
        return std::nullopt;
      inputs.push_back(std::move(*e));
    }
    return forEachIndex(
        op, [&](llvm::ArrayRef<Dim> index) -> std::optional<Dim> {
          AccessMap map = accessMap(op, index);
          for (const Access &access : map.accesses) {
            bool isValid = true;
            for (const IndexRange &range : access.valid) {
              if (!range.value.isConstant() || !range.lower.isConstant() ||
                  !range.upper.isConstant())
                return std::nullopt;
              isValid &= range.lower.constant() <= range.value.constant() &&
                         range.value.constant() < range.upper.constant();
            }
            if (!isValid)
              continue;
            std::optional<int64_t> at = position(
                op.operand(access.operand)->type().shape, access.index);
            if (!at)
              return std::nullopt;
            return inputs[access.operand][*at];
          }
          return map.fill ? inputs.back()[0] : Dim(0);
        });
  }

  Elements gatherElements(GatherOp gather) {
    Elements input = evaluate(gather.input());
    Elements indices = evaluate(gather.indices());
    if (!input || !indices)
      return std::nullopt;
    llvm::ArrayRef<Dim> inShape = gather.input()->type().shape;
    llvm::ArrayRef<Dim> indexShape = gather.indices()->type().shape;
    size_t axis = gather.axis(), rank = indexShape.size();
    return forEachIndex(
        *gather.op(), [&](llvm::ArrayRef<Dim> index) -> std::optional<Dim> {
          std::optional<int64_t> at =
              position(indexShape, index.slice(axis, rank));
          Dim selected = (*indices)[*at];
          if (selected.isConstant() && selected.constant() < 0)
            selected = selected + inShape[axis];
          Shape source(index.begin(), index.begin() + axis);
          source.push_back(selected);
          source.append(index.begin() + axis + rank, index.end());
          std::optional<int64_t> from = position(inShape, source);
          if (!from)
            return std::nullopt;
          return (*input)[*from];
        });
  }

  Elements reduction(ReduceOp reduce) {
    Elements input = evaluate(reduce.input());
    llvm::ArrayRef<Dim> shape = reduce.input()->type().shape;
    // Shape arithmetic reduces vectors: to one number.
    if (!input || reduce.axes().size() != shape.size() || input->empty())
      return std::nullopt;
    Dim result = (*input)[0];
    for (const Dim &d : llvm::ArrayRef<Dim>(*input).drop_front())
      switch (reduce.kind()) {
      case ReduceKind::Sum:
        result = result + d;
        break;
      case ReduceKind::Prod:
        result = result * d;
        break;
      case ReduceKind::Max:
        result = max(result, d);
        break;
      case ReduceKind::Min:
        result = min(result, d);
        break;
      case ReduceKind::Any:
      case ReduceKind::All:
        return std::nullopt;
      }
    return std::vector<Dim>{result};
  }

  /// Truth of a comparison of known integers.
  std::optional<bool> truth(const Value *condition, llvm::ArrayRef<Dim> index) {
    Op *op = condition->definingOp();
    if (!op)
      return std::nullopt;
    if (auto constant = llvm::dyn_cast<ConstantOp>(op)) {
      std::optional<int64_t> at =
          position(condition->type().shape,
                   broadcastIndex(condition->type().shape, index));
      if (!at || !constant.value().type().layout.isRowMajor())
        return std::nullopt;
      return constant.value().intAt(*at) != 0;
    }
    if (op->kind() != OpKind::Equal && op->kind() != OpKind::Less &&
        op->kind() != OpKind::LessEqual)
      return std::nullopt;
    std::optional<Dim> a = operandAt(op->operand(0), index);
    std::optional<Dim> b = operandAt(op->operand(1), index);
    if (!a || !b)
      return std::nullopt;
    Dim difference = *b - *a;
    if (op->kind() == OpKind::Equal) {
      if (difference.isConstant())
        return difference.isConstant(0);
      // Sizes against -1 and the like.
      if (isNonNegativeSize(difference - 1) ||
          isNonNegativeSize(Dim(-1) - difference))
        return false;
      return std::nullopt;
    }
    Dim margin = op->kind() == OpKind::Less ? difference - 1 : difference;
    if (isNonNegativeSize(margin))
      return true;
    if (isNonNegativeSize(Dim(-1) - margin))
      return false;
    return std::nullopt;
  }

  std::optional<Dim> operandAt(const Value *v, llvm::ArrayRef<Dim> index) {
    Elements elements = evaluate(v);
    if (!elements)
      return std::nullopt;
    std::optional<int64_t> at =
        position(v->type().shape, broadcastIndex(v->type().shape, index));
    if (!at)
      return std::nullopt;
    return (*elements)[*at];
  }

  Elements selection(SelectOp select) {
    return forEachIndex(
        *select.op(), [&](llvm::ArrayRef<Dim> index) -> std::optional<Dim> {
          std::optional<bool> condition = truth(select.condition(), index);
          if (!condition)
            return std::nullopt;
          return operandAt(*condition ? select.onTrue() : select.onFalse(),
                           index);
        });
  }

  Elements pointwise(const Op &op) {
    return forEachIndex(op,
                        [&](llvm::ArrayRef<Dim> index) -> std::optional<Dim> {
                          llvm::SmallVector<Dim, 2> x;
                          for (Value *v : op.operands()) {
                            std::optional<Dim> element = operandAt(v, index);
                            if (!element)
                              return std::nullopt;
                            x.push_back(*element);
                          }
                          return scalar(op.kind(), x);
                        });
  }

  std::optional<Dim> scalar(OpKind kind, llvm::ArrayRef<Dim> x) const {
    switch (kind) {
    case OpKind::Add:
      return x[0] + x[1];
    case OpKind::Sub:
      return x[0] - x[1];
    case OpKind::Mul:
      return x[0] * x[1];
    case OpKind::Max:
      return max(x[0], x[1]);
    case OpKind::Min:
      return min(x[0], x[1]);
    case OpKind::Neg:
      return Dim(0) - x[0];
    case OpKind::Abs:
      if (isNonNegativeSize(x[0]))
        return x[0];
      return max(x[0], Dim(0) - x[0]);
    case OpKind::Relu:
      return isNonNegativeSize(x[0]) ? x[0] : max(x[0], 0);
    case OpKind::Div:
    case OpKind::Rem:
    case OpKind::Mod: {
      if (x[1].isConstant(0))
        return Dim(0); // as the scalars are defined
      // Truncation is rounding down where nothing is negative.
      bool isRounding = kind == OpKind::Mod;
      if (!isNonNegativeSize(x[1] - 1) ||
          (!isRounding && !isNonNegativeSize(x[0])))
        return std::nullopt;
      return kind == OpKind::Div ? floorDiv(x[0], x[1]) : mod(x[0], x[1]);
    }
    default:
      return std::nullopt;
    }
  }

  const SymbolTable *symbols = nullptr;
  llvm::DenseMap<const Value *, Elements> known;
};

} // namespace

std::optional<std::vector<Dim>> shapeValue(const Value *value) {
  return Evaluator(value).evaluate(value);
}

} // namespace dlc
