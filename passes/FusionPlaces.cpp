// SPDX-License-Identifier: Apache-2.0
// Where in the iteration space of a fusion a value lies.
#include "passes/FusionPlaces.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

FusionPlaces::FusionPlaces(llvm::ArrayRef<Dim> full,
                           llvm::ArrayRef<int64_t> reducedAxes)
    : full(full.begin(), full.end()), rowKept(full.begin(), full.end()),
      axes(reducedAxes.begin(), reducedAxes.end()) {
  for (int64_t axis : axes)
    rowKept[size_t(axis)] = 1;
}

const FusionPlaces::Info *FusionPlaces::find(const Value *value) const {
  auto it = infos.find(value);
  return it == infos.end() ? nullptr : &it->second;
}

void FusionPlaces::forget(const Op *op) {
  for (unsigned i = 0; i < op->numResults(); ++i)
    infos.erase(op->result(i));
}

bool FusionPlaces::isFull(llvm::ArrayRef<Dim> shape) const {
  return sameShape(shape, full);
}

static Shape withoutOnes(llvm::ArrayRef<Dim> shape) {
  Shape result;
  for (const Dim &dim : shape)
    if (!dim.isConstant(1))
      result.push_back(dim);
  return result;
}

bool FusionPlaces::isRow(llvm::ArrayRef<Dim> shape) const {
  return !axes.empty() && sameShape(withoutOnes(shape), withoutOnes(rowKept));
}

// Does NumPy broadcasting of a row value of this shape give each element of a
// row the row's own value?
bool FusionPlaces::broadcastsFromRow(llvm::ArrayRef<Dim> shape) const {
  if (shape.size() > full.size())
    return false;
  size_t missing = full.size() - shape.size();
  for (size_t i = 0; i < full.size(); ++i) {
    Dim own = i < missing ? Dim(1) : shape[i - missing];
    if (own != rowKept[i])
      return false;
  }
  return true;
}

std::optional<FusionPlaces::Info>
FusionPlaces::afterPointwise(const Op &op, std::string &why) const {
  llvm::ArrayRef<Dim> shape = op.result()->type().shape;
  // Values of the cluster that depend on a hero fix the coordinates.
  Info result;
  bool any = false;
  for (const Value *operand : op.operands()) {
    const Info *info = find(operand);
    if (!info || info->place == Place::Free)
      continue;
    if (info->place == Place::Row && isFull(shape) && !axes.empty() &&
        broadcastsFromRow(operand->type().shape)) {
      if (any && result.place != Place::Full) {
        why = "it mixes values of different coordinates";
        return std::nullopt;
      }
      result.place = Place::Full;
      result.afterHero = true;
      any = true;
      continue;
    }
    if (!sameShape(operand->type().shape, shape)) {
      why = "it broadcasts a value of the fusion to another shape";
      return std::nullopt;
    }
    if (any && (result.place != info->place || result.view != info->view)) {
      why = "it mixes values of different coordinates";
      return std::nullopt;
    }
    result.place = info->place;
    result.view = info->view;
    result.afterHero |= info->afterHero;
    any = true;
  }
  if (!any) {
    if (!isFull(shape)) {
      why = "its shape is not that of the fusion";
      return std::nullopt;
    }
    result.place = Place::Full;
  }
  return result;
}

std::optional<FusionPlaces::Info>
FusionPlaces::afterView(const Op &op, std::string &why) const {
  const Value *input = op.operand(0);
  const Info *info = find(input);
  if (!info) {
    why = "it does not view a value of the fusion";
    return std::nullopt;
  }
  llvm::ArrayRef<Dim> shape = op.result()->type().shape;
  if (op.kind() == OpKind::LayoutCopy)
    return *info;
  if (info->place == Place::Row) {
    // (N, 1, C) <-> (N, C): one element per row still.
    if (op.kind() == OpKind::Reshape && isRow(shape))
      return *info;
    if (op.kind() == OpKind::Broadcast && isFull(shape) &&
        broadcastsFromRow(input->type().shape)) {
      Info result = *info;
      result.place = Place::Full;
      return result;
    }
    why = "it moves the rows of a reduction";
    return std::nullopt;
  }
  if (op.kind() != OpKind::Transpose && op.kind() != OpKind::Reshape) {
    why = "only a view that keeps every element once can be stored through";
    return std::nullopt;
  }
  Info result = *info;
  result.place = Place::Post;
  result.view = &op;
  return result;
}

std::optional<FusionPlaces::Info>
FusionPlaces::afterOf(const Op &op, std::string &why) const {
  if (op.hasTrait(OpTrait::Pointwise))
    return afterPointwise(op, why);
  if (op.hasTrait(OpTrait::View) && op.numOperands() == 1)
    return afterView(op, why);
  why = "a " + op.mnemonic().str() + " is neither pointwise nor a view";
  return std::nullopt;
}

std::optional<FusionPlaces::Info>
FusionPlaces::beforeOf(const Op &op, std::string &why) const {
  bool pointwise = op.hasTrait(OpTrait::Pointwise);
  if (!pointwise && !op.hasTrait(OpTrait::View) &&
      op.kind() != OpKind::Gather && op.kind() != OpKind::GatherElements &&
      op.kind() != OpKind::GatherNd && op.kind() != OpKind::Iota &&
      op.kind() != OpKind::Dims) {
    why = "a " + op.mnemonic().str() + " cannot be computed element by element";
    return std::nullopt;
  }
  for (const Value *operand : op.operands()) {
    const Info *info = operand ? find(operand) : nullptr;
    if (info && info->afterHero) {
      why = "it reads a result of the fusion at other coordinates";
      return std::nullopt;
    }
  }
  Info result;
  if (isFull(op.result()->type().shape))
    result.place = Place::Full;
  else
    result.place = Place::Free;
  return result;
}

} // namespace dlc
