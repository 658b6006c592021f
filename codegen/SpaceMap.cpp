// SPDX-License-Identifier: Apache-2.0
// Which elements of a body's values belong to one point of its space.
#include "codegen/SpaceMap.h"

using namespace dlc;
using namespace dlc::codegen;

std::optional<Coordinates> SpaceMap::at(const Value *v) const {
  if (std::optional<Coordinates> found = follow(v))
    return found;
  const auto &[anchor, at] = anchors.front();
  if (v->type().shape == anchor->type().shape)
    return at;
  return std::nullopt;
}

llvm::Expected<Coordinates> SpaceMap::result(const Unit &unit, unsigned i,
                                             llvm::StringRef whose) const {
  if (std::optional<Coordinates> element = at(unit.body().outputs()[i]))
    return *element;
  return refuse("a result of shape " + unit.resultType(i).str() +
                " does not follow the " + whose + "'s");
}

std::optional<Coordinates> SpaceMap::follow(const Value *v) const {
  for (const auto &[anchor, at] : anchors)
    if (anchor == v)
      return at;
  const Op *op = v->definingOp();
  if (!op)
    return std::nullopt;
  const TensorType &type = v->type();
  if (op->hasTrait(OpTrait::Pointwise)) {
    for (const Value *operand : op->operands())
      if (operand->type().shape == type.shape)
        if (std::optional<Coordinates> found = follow(operand))
          return found;
    return std::nullopt;
  }
  switch (op->kind()) {
  case OpKind::Reshape:
  case OpKind::Transpose:
  case OpKind::LayoutCopy:
    break;
  case OpKind::Broadcast:
    if (op->operand(0)->type().elementCount() != type.elementCount())
      return std::nullopt;
    break;
  default:
    return std::nullopt;
  }
  const Value *operand = op->operand(0);
  std::optional<Coordinates> from = follow(operand);
  if (!from)
    return std::nullopt;
  Coordinates to;
  switch (op->kind()) {
  case OpKind::Transpose: {
    std::vector<int64_t> permutation =
        llvm::cast<TransposeOp>(op).permutation();
    for (int64_t d : permutation)
      to.index.push_back(from->index[d]);
    if (from->linear && from->layout.isPermutation()) {
      to.linear = from->linear;
      to.layout = from->layout.transposed(permutation);
    }
    return to;
  }
  case OpKind::LayoutCopy:
    return from;
  default: // reshape and a broadcast that adds dimensions of size 1
    to.index = reindex(operand->type().shape, type.shape, from->index);
    if (from->linear && from->layout.isRowMajor())
      to.linear = from->linear;
    return to;
  }
}

bool SpaceMap::same(const Coordinates &a, const Coordinates &b,
                    llvm::ArrayRef<Dim> shape, IndexPrinter &index) {
  if (a.index.size() != b.index.size())
    return false;
  for (size_t i = 0; i < a.index.size(); i++)
    if (!shape[i].isConstant(1) &&
        index.simplify(a.index[i] - b.index[i]) != Dim(0))
      return false;
  return true;
}

BodyPrinter::HeroValue codegen::heroAt(const Op &hero, Coordinates element,
                                       IndexPrinter &index,
                                       std::function<std::string()> text) {
  return [&hero, &index, element = std::move(element), text = std::move(text)](
             const Op &op, unsigned,
             const Coordinates &where) -> std::optional<std::string> {
    if (&op != &hero ||
        !SpaceMap::same(element, where, hero.result()->type().shape, index))
      return std::nullopt;
    return text();
  };
}
