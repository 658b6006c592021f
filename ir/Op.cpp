// SPDX-License-Identifier: Apache-2.0
// Operations and values.
#include "ir/Ops.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

bool Value::isOutput() const {
  const Graph *home = op ? op->parent() : graph;
  return home && llvm::is_contained(home->outputs(), this);
}

Op::Op(OpKind kind) : opKind(kind) {}

Op::~Op() { setOperands({}); }

llvm::StringRef Op::mnemonic() const { return opInfo(opKind).mnemonic; }

static void removeUse(llvm::SmallVectorImpl<Use> &uses, Use use) {
  // The order of uses is the order in which they came: passes walk it.
  auto it = llvm::find(uses, use);
  DLC_CHECK(it != uses.end()) << "use list of an operand is wrong";
  uses.erase(it);
}

void Op::setOperand(unsigned i, Value *value) {
  DLC_CHECK(i < operandList.size()) << mnemonic() << " operand " << i;
  Value *&slot = operandList[i];
  if (slot == value)
    return;
  if (slot)
    removeUse(slot->useList, {this, i});
  slot = value;
  if (value)
    value->useList.push_back({this, i});
}

void Op::setOperands(llvm::ArrayRef<Value *> values) {
  for (unsigned i = 0; i != operandList.size(); ++i)
    if (Value *old = operandList[i])
      removeUse(old->useList, {this, i});
  operandList.assign(values.begin(), values.end());
  for (unsigned i = 0; i != operandList.size(); ++i)
    if (Value *value = operandList[i])
      value->useList.push_back({this, i});
}

void Op::setAttribute(unsigned i, Attribute a) {
  const OpInfo &info = opInfo(opKind);
  if (i < info.attributes.size() && info.attributes[i].hasDefault &&
      a == defaultAttribute(opKind, i))
    a = Attribute();
  attributeList[i] = std::move(a);
}

bool Op::isBefore(const Op *other) const {
  DLC_CHECK(parentGraph && parentGraph == other->parentGraph)
      << mnemonic() << " and " << other->mnemonic() << " in different graphs";
  if (!order || !other->order)
    parentGraph->renumber();
  return order < other->order;
}

bool Op::isUnused() const {
  return llvm::all_of(resultList, [](const std::unique_ptr<Value> &v) {
    return v->uses().empty() && !v->isOutput();
  });
}

Op *Op::create(OpKind kind, llvm::ArrayRef<Value *> operands,
               std::vector<Attribute> attributes,
               llvm::ArrayRef<TensorType> resultTypes, Location loc,
               unsigned regions) {
  Op *op = new Op(kind);
  op->loc = std::move(loc);
  op->attributeList.resize(attributes.size());
  for (unsigned i = 0; i != attributes.size(); ++i)
    op->setAttribute(i, std::move(attributes[i]));
  op->setOperands(operands);
  op->setResultTypes(resultTypes);
  for (unsigned i = 0; i != regions; ++i) {
    op->regionList.push_back(std::make_unique<Graph>());
    op->regionList.back()->owner = op;
  }
  return op;
}

void Op::setResultTypes(llvm::ArrayRef<TensorType> types) {
  while (resultList.size() > types.size()) {
    DLC_CHECK(resultList.back()->useList.empty())
        << "a result of " << mnemonic() << " goes away but is used";
    resultList.pop_back();
  }
  for (unsigned i = 0; i != types.size(); ++i) {
    if (i == resultList.size()) {
      resultList.push_back(std::make_unique<Value>());
      resultList[i]->op = this;
      resultList[i]->position = i;
    }
    resultList[i]->valueType = types[i];
  }
}

Op *Op::clone(llvm::function_ref<Value *(Value *)> map) const {
  llvm::SmallVector<Value *, 4> operands;
  for (Value *v : operandList)
    operands.push_back(v ? map(v) : nullptr);
  llvm::SmallVector<TensorType, 1> types;
  for (const auto &v : resultList)
    types.push_back(v->type());
  Op *copy = create(opKind, operands, attributeList, types, loc, numRegions());
  for (unsigned i = 0; i != numResults(); ++i)
    copy->resultList[i]->name = resultList[i]->name;
  for (unsigned i = 0; i != numRegions(); ++i)
    copy->regionList[i]->cloneFrom(*regionList[i]);
  return copy;
}

void Op::erase() {
  DLC_CHECK(isUnused()) << mnemonic() << " is erased but used";
  if (parentGraph)
    parentGraph->remove(this);
  delete this;
}

} // namespace dlc
