// SPDX-License-Identifier: Apache-2.0
// The ops of a fusion's body as device code.
#include "codegen/BodyPrinter.h"

using namespace dlc;
using namespace dlc::codegen;

std::string BodyPrinter::value(const Value *v, const Coordinates &at) {
  // The same element under the same guards is the same text.
  std::string key = std::to_string(uintptr_t(v)) + ":" + guardText();
  for (const Dim &d : at.index)
    key += ":" + d.str();
  auto it = memo.find(key);
  if (it != memo.end())
    return it->second;
  std::string text;
  const Op *op = v->definingOp();
  if (!op) {
    unsigned i = v->index();
    text = load(kernel.input(i), v->type(), at, kernel.isWeight(i));
  } else if (llvm::is_contained(kernel.unit().heroes(), op) ||
             !isElementwise(*op)) {
    std::optional<std::string> found;
    if (hero)
      found = hero(*op, v->index(), at);
    text = found ? *found
                 : fail("the body reads " + op->mnemonic() +
                        " at other coordinates than it is computed at");
  } else {
    switch (op->kind()) {
    case OpKind::Constant:
      text = constant(*op, at);
      break;
    case OpKind::Dims:
      text = dims(*op, at);
      break;
    case OpKind::Iota: {
      auto iota = llvm::cast<IotaOp>(op);
      const Dim &d = at.index[iota.axis()];
      text = "scalar::cast<" + computeName(iota.type()).str() + ">(int64_t(" +
             index.print(d) + "))";
      break;
    }
    case OpKind::Gather:
    case OpKind::GatherElements:
    case OpKind::GatherNd:
      text = gather(*op, at);
      break;
    default:
      text = op->hasTrait(OpTrait::View) ? view(*op, at) : pointwise(*op, at);
    }
  }
  memo[key] = text;
  return text;
}

std::string BodyPrinter::pointwise(const Op &op, const Coordinates &at) {
  const TensorType &type = op.result()->type();
  if (!isStored(type.element))
    return fail("no kernel computes elements of type " +
                stringify(type.element));
  std::string arguments;
  for (Value *operand : op.operands()) {
    // The exponent of pow may have a type of its own, which it keeps.
    std::string x = value(operand, operandAt(operand, type, at));
    arguments += (arguments.empty() ? "" : ", ") + x;
  }
  std::string compute = computeName(type.element).str();
  std::string call = "scalar::" + opInfo(op.kind()).scalar.str();
  if (op.kind() == OpKind::Cast || op.kind() == OpKind::Convert)
    call += "<" + compute + ">";
  call += "(" + arguments + ")";
  // A cast is the user's and rounds; a convert may stay wider.
  if (op.kind() == OpKind::Cast && isFloat(type.element) &&
      bitWidth(type.element) < 32)
    call = "round_to<" + storageName(type.element).str() + ">(" + call + ")";
  return define(compute, call, isPerLane(at));
}

std::string BodyPrinter::constant(const Op &op, const Coordinates &at) {
  auto op_ = llvm::cast<ConstantOp>(&op);
  const Constant &value = op_.value();
  if (value.elements() == 1 || value.uniformValue())
    return literal(value.type().element, value, 0);
  return load(kernel.weight(value), value.type(), at, true);
}

std::string BodyPrinter::dims(const Op &op, const Coordinates &at) {
  std::vector<Dim> values = llvm::cast<DimsOp>(&op).values();
  auto element = [&](const Dim &d) {
    if (d.isConstant() || d.kind() == Dim::Kind::Symbol)
      return "int64_t(" + index.print(d) + ")";
    // A value, not an index: it may be larger than any of those.
    return "[&] { using Index = int64_t; return int64_t(" + index.print(d) +
           "); }()";
  };
  if (at.index.empty())
    return element(values[0]);
  Dim i = index.simplify(at.index[0]);
  if (i.isConstant())
    return element(values[i.constant()]);
  std::string text = element(values.back());
  std::string position = index.print(i);
  for (size_t k = values.size() - 1; k-- > 0;)
    text = position + " == " + std::to_string(k) + " ? " + element(values[k]) +
           " : " + text;
  return define("int64_t", text, isPerLane(i));
}

//===--- Views ------------------------------------------------------------===//

std::string BodyPrinter::guarded(const Value *v, const Coordinates &at,
                                 llvm::ArrayRef<IndexRange> ranges) {
  bool perLane = false;
  std::string text = rangesText(ranges, perLane);
  if (text.empty())
    return value(v, at);
  guards.push_back({text, perLane});
  std::string x = value(v, at);
  guards.pop_back();
  return x;
}

std::string BodyPrinter::valueWhere(const Value *v, const Coordinates &at,
                                    llvm::ArrayRef<IndexRange> ranges) {
  std::string x = guarded(v, at, ranges);
  bool perLane = false;
  std::string condition = rangesText(ranges, perLane);
  // A load is zero by its guard; anything computed is made so.
  if (condition.empty() || !v->definingOp())
    return x;
  return define(computeName(v->type().element).str(),
                "(" + condition + ") ? " + x + " : " +
                    literal(v->type().element, 0.0),
                perLane || isPerLane(at));
}

/// Is the fill of a pad zero?
static bool isZeroFill(const Value *fill) {
  if (!fill)
    return true;
  const Op *op = fill->definingOp();
  if (!op || op->kind() != OpKind::Constant)
    return false;
  std::optional<double> v = llvm::cast<ConstantOp>(op).value().uniformValue();
  return v && *v == 0;
}

std::optional<BodyPrinter::Address>
BodyPrinter::address(const Value *v, const Coordinates &at,
                     llvm::ArrayRef<IndexRange> ranges) {
  Address a;
  Coordinates here = at;
  auto guard = [&](llvm::ArrayRef<IndexRange> more) {
    std::string text = rangesText(more, a.guardPerLane);
    if (!text.empty())
      a.guard += (a.guard.empty() ? "" : " && ") + text;
  };
  guard(ranges);
  while (const Op *op = v->definingOp()) {
    if (!op->hasTrait(OpTrait::View) ||
        llvm::is_contained(kernel.unit().heroes(), op))
      return std::nullopt;
    AccessMap map = accessMap(*op, here.index);
    if (map.accesses.size() != 1 ||
        (!map.accesses[0].valid.empty() && !isZeroFill(map.fill)))
      return std::nullopt;
    guard(map.accesses[0].valid);
    here = {map.accesses[0].index, {}, {}};
    for (Dim &d : here.index)
      d = index.simplify(d);
    v = op->operand(map.accesses[0].operand);
  }
  a.input = v->index();
  a.offset = offset(v->type(), here);
  return a;
}

std::string BodyPrinter::view(const Op &op, const Coordinates &at) {
  const TensorType &type = op.result()->type();
  // Views of all elements that leave them in place keep the linear index.
  std::optional<Dim> linear;
  Layout layout;
  if (at.linear && op.kind() == OpKind::Reshape && at.layout.isRowMajor()) {
    linear = at.linear;
  } else if (at.linear && op.kind() == OpKind::LayoutCopy) {
    linear = at.linear;
    layout = at.layout;
  } else if (at.linear && op.kind() == OpKind::Transpose &&
             at.layout.isPermutation()) {
    std::vector<int64_t> permutation =
        llvm::cast<TransposeOp>(&op).permutation();
    llvm::SmallVector<int64_t, 6> inverse(permutation.size());
    for (size_t i = 0; i < permutation.size(); i++)
      inverse[permutation[i]] = i;
    linear = at.linear;
    layout = at.layout.transposed(inverse);
  } else if (at.linear && op.kind() == OpKind::Broadcast &&
             op.operand(0)->type().shape == type.shape) {
    linear = at.linear;
    layout = at.layout;
  }

  AccessMap map = accessMap(op, at.index);
  std::string text;
  if (map.fill || llvm::any_of(map.accesses, [](const Access &a) {
        return !a.valid.empty();
      })) {
    text = literal(type.element, 0.0);
    if (map.fill)
      text = value(map.fill, {Shape(map.fill->type().rank(), Dim(0)), {}, {}});
  }
  bool perLane = false, total = false;
  std::string conditions;
  for (const Access &access : map.accesses) {
    Coordinates inner{access.index, linear, layout};
    for (Dim &d : inner.index)
      d = index.simplify(d);
    bool own = false;
    std::string condition = rangesText(access.valid, own);
    perLane |= own || isPerLane(inner);
    // The last input of a concat has what the others leave.
    llvm::SmallVector<IndexRange, 2> valid = access.valid;
    const Value *operand = op.operand(access.operand);
    if (auto concat = llvm::dyn_cast<ConcatOp>(&op); concat && valid.empty())
      valid.push_back(
          {inner.index[concat.axis()], 0, operand->type().dim(concat.axis())});
    std::string x = guarded(operand, inner, valid);
    if (condition.empty()) {
      conditions += x;
      total = true;
      break;
    }
    conditions += "(" + condition + ") ? " + x + " : ";
  }
  if (!total)
    conditions += text;
  if (conditions.find('?') == std::string::npos)
    return conditions;
  return define(computeName(type.element).str(), conditions, perLane);
}

//===--- Gathers ----------------------------------------------------------===//

/// The index that an element of `indices` holds, as an expression; counts from
/// the end where negative, -1 where out of range.
Dim BodyPrinter::dataIndex(const Value *indices, const Coordinates &at,
                           const Dim &extent) {
  std::string x = value(indices, at);
  bool perLane = isPerLane(at) || guardsPerLane();
  std::string name = "g" + std::to_string(data++);
  (perLane ? lanes : before) += "const Index " + name + " = element_index<" +
                                "Index>(" + x + ", " + index.print(extent) +
                                ");\n";
  std::string symbol = "%" + name;
  perLaneSymbols[symbol] = perLane;
  return index.declare(symbol, extent, [name] { return name; });
}

std::string BodyPrinter::gather(const Op &op, const Coordinates &at) {
  const Value *input = op.operand(0), *indices = op.operand(1);
  const TensorType &type = input->type();
  Coordinates inner;
  llvm::SmallVector<Dim, 4> looked;
  auto look = [&](const Shape &where, int64_t dimension) {
    Dim d = dataIndex(indices, {where, {}, {}}, type.shape[dimension]);
    looked.push_back(d);
    return d;
  };
  if (op.kind() == OpKind::Gather) {
    auto g = llvm::cast<GatherOp>(&op);
    int64_t axis = g.axis() < 0 ? g.axis() + type.rank() : g.axis();
    int64_t rank = indices->type().rank();
    Shape where(at.index.begin() + axis, at.index.begin() + axis + rank);
    inner.index.assign(at.index.begin(), at.index.begin() + axis);
    inner.index.push_back(look(where, axis));
    inner.index.append(at.index.begin() + axis + rank, at.index.end());
  } else if (op.kind() == OpKind::GatherElements) {
    auto g = llvm::cast<GatherElementsOp>(&op);
    int64_t axis = g.axis() < 0 ? g.axis() + type.rank() : g.axis();
    inner.index = at.index;
    inner.index[axis] = look(at.index, axis);
  } else {
    auto g = llvm::cast<GatherNdOp>(&op);
    int64_t batch = g.batchDims(), rank = indices->type().rank();
    std::optional<int64_t> tuple = indices->type().dim(-1).tryConstant();
    if (!tuple)
      return fail("gather_nd needs index tuples of a constant length, found " +
                  indices->type().dim(-1).str());
    inner.index.assign(at.index.begin(), at.index.begin() + batch);
    for (int64_t k = 0; k < *tuple; k++) {
      Shape where(at.index.begin(), at.index.begin() + rank - 1);
      where.push_back(k);
      inner.index.push_back(look(where, batch + k));
    }
    inner.index.append(at.index.begin() + rank - 1, at.index.end());
  }
  std::string condition;
  bool perLane = false;
  for (const Dim &d : looked) {
    condition += (condition.empty() ? "" : " && ") + index.print(d) + " >= 0";
    perLane |= isPerLane(d);
  }
  guards.push_back({condition, perLane});
  std::string x = value(input, inner);
  guards.pop_back();
  // A load is zero by its guard; anything computed is made so.
  if (!input->definingOp())
    return x;
  return define(computeName(type.element).str(),
                "(" + condition + ") ? " + x + " : " +
                    literal(type.element, 0.0),
                perLane || isPerLane(at));
}
