// SPDX-License-Identifier: Apache-2.0
// Joins without a kernel: their parts are written where they belong.
#include "codegen/IndexPrinter.h"
#include "codegen/ModuleLowering.h"

using namespace dlc;
using namespace dlc::codegen;

/// Where operand `i` lies in the memory of the result, in bytes, if each of its
/// elements is as far from its first one as in the result.
static std::optional<Dim> placeIn(ConcatOp concat, unsigned i,
                                  const SymbolTable &symbols) {
  const TensorType &to = concat.result()->type(),
                   &from = concat.inputs()[i]->type();
  if (bitWidth(to.element) < 8)
    return std::nullopt;
  const size_t axis = size_t(concat.axis());
  IndexPrinter index(symbols, nullptr);
  Shape at;
  for (const Dim &extent : from.shape)
    at.push_back(
        extent.isConstant(1)
            ? Dim(0)
            : index.declare("%" + std::to_string(at.size()), extent, nullptr));
  Dim own = index.simplify(from.layout.offset(from.shape, at));
  for (const Value *earlier : concat.inputs().take_front(i))
    at[axis] = at[axis] + earlier->type().shape[axis];
  Dim place = index.simplify(to.layout.offset(to.shape, at) - own) *
              int64_t(bitWidth(to.element) / 8);
  bool fixed = true;
  place.forEachSymbol([&](llvm::StringRef s) { fixed &= !s.starts_with("%"); });
  // Kernels load vectors of up to 16 bytes from the start of a buffer.
  if (!fixed || !isMultipleOf(place, 16, symbols))
    return std::nullopt;
  return place;
}

/// Do the parts, none of which is written yet, leave each other alone?
static bool isApart(const Join &join, int64_t axis) {
  if (join.isWhole) // side by side in the result and nowhere else
    return true;
  // Within a row, the result's is the longest.
  const TensorType &type = join.result->type();
  Dim inner = bitWidth(type.element) / 8;
  const Shape physical = type.layout.physicalShape(type.shape);
  llvm::SmallVector<int64_t, 6> order = type.layout.order(type.rank());
  while (order.back() != axis)
    inner = inner * type.shape[size_t(order.pop_back_val())];
  const Dim pitch = inner * physical[order.size() - 1];
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> rows; // begin, end
  for (const auto &[part, byte] : join.parts) {
    Dim length = inner * part->type().shape[size_t(axis)];
    if (!byte.isConstant() || !length.isConstant() || !pitch.isConstant())
      return false;
    rows.push_back({byte.constant(), byte.constant() + length.constant()});
  }
  llvm::sort(rows);
  for (size_t i = 1; i < rows.size(); i++)
    if (rows[i - 1].second > rows[i].first)
      return false;
  const bool padded = !type.layout.isPermutation();
  return !padded || rows.back().second - rows.front().first <= pitch.constant();
}

std::optional<Join> ModuleLowering::findJoin(const Op &joining) const {
  auto fusion = llvm::dyn_cast<FusionOp>(&joining);
  ConcatOp concat =
      fusion ? soleConcat(fusion) : llvm::dyn_cast<ConcatOp>(&joining);
  // Sizes that kernels find are not known when buffers are placed.
  if (!concat || !concat.result()->type().layout.isUnsplit() ||
      isSizedByDevice(concat.result()->type()))
    return std::nullopt;
  Join join{joining.result(), {}};
  for (unsigned i = 0; i < concat.inputs().size(); i++) {
    const Value *part = concat.inputs()[i];
    std::optional<Dim> place = placeIn(concat, i, symbols);
    if (!place)
      return std::nullopt;
    // What it is a slice of lies around it.
    const Op *op = part->definingOp();
    if (op && op->kind() == OpKind::Slice) {
      std::optional<Dim> offset = aliasOffset(*op);
      if (!offset)
        return std::nullopt;
      *place = *place - *offset;
      join.isWhole = false;
      part = op->operand(0);
      op = part->definingOp();
    }
    if (!op && concat.op() != &joining) {
      part = joining.operand(part->index());
      op = part->definingOp();
    }
    if (!op || op->parent() != joining.parent() ||
        op->kind() == OpKind::Constant || op->kind() == OpKind::If ||
        op->kind() == OpKind::Loop || aliasOffset(*op) || part->isOutput() ||
        part->type().layout != join.result->type().layout)
      return std::nullopt;
    join.isWhole &= part->type().layout.isPermutation();
    auto known = llvm::find_if(join.parts,
                               [&](const auto &p) { return p.first == part; });
    if (known == join.parts.end()) {
      if (buffers.count(part) || joins.count(part))
        return std::nullopt;
      join.parts.push_back({part, *place});
    } else if (known->second != *place) {
      return std::nullopt;
    }
  }
  if (!isApart(join, concat.axis()))
    return std::nullopt;
  return join;
}

void ModuleLowering::placeJoins(const Graph &graph) {
  for (const Op &op : graph.ops()) {
    std::optional<Join> join = findJoin(op);
    if (!join)
      continue;
    auto output = buffers.find(join->result);
    if (output != buffers.end() && !join->isWhole)
      continue; // a part would reach beyond the output
    if (output != buffers.end()) {
      for (const auto &[part, byte] : join->parts)
        addPart(output->second, part, byte);
    } else {
      auto shared = std::make_shared<Join>(*join);
      joins[join->result] = shared;
      for (const auto &[part, byte] : join->parts)
        joins[part] = shared;
    }
    placed.insert(&op);
  }
}

void ModuleLowering::addPart(uint32_t memory, const Value *value,
                             const Dim &byte) {
  buffers[value] = builder.addAlias(memory, byte, value->type().storageBytes(),
                                    value->type().element, value->name);
}

void ModuleLowering::makeJoin(const Join &join) {
  const TensorType &type = join.result->type();
  int64_t first = 0, last = 0;
  Dim bytes = type.storageBytes();
  // The strides are those of the longest rows, so that the last row of a part
  // may end as far behind the others as the part begins.
  if (!join.isWhole)
    for (const auto &[part, byte] : join.parts) {
      first = std::min(first, byte.constant());
      last = std::max(last, byte.constant());
      bytes = max(bytes, part->type().storageBytes());
    }
  uint32_t memory =
      builder.addBuffer(plan::Space::Arena, bytes + (last - first),
                        type.element, join.result->name);
  addPart(memory, join.result, -first);
  for (const auto &[part, byte] : join.parts)
    addPart(memory, part, byte - first);
}
