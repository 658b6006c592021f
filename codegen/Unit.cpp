// SPDX-License-Identifier: Apache-2.0
// What one emitter call works on: a fusion, or a single op seen as one.
#include "codegen/Unit.h"

#include "llvm/ADT/DenseMap.h"

using namespace dlc;
using namespace dlc::codegen;

/// The constant behind a value that is one number everywhere.
static const Op *uniformConstant(const Value *v) {
  const Op *op = v->definingOp();
  if (!op || op->kind() != OpKind::Constant)
    return nullptr;
  const Constant &c = llvm::cast<ConstantOp>(op).value();
  return c.elements() > 0 && c.uniformValue() ? op : nullptr;
}

static Op *copyOp(const Op &op, llvm::ArrayRef<Value *> operands) {
  std::vector<Attribute> attributes;
  for (unsigned i = 0; i < op.numAttributes(); i++)
    attributes.push_back(op.attribute(i));
  llvm::SmallVector<TensorType, 2> types;
  for (unsigned i = 0; i < op.numResults(); i++)
    types.push_back(op.result(i)->type());
  return Op::create(op.kind(), operands, std::move(attributes), types,
                    op.location());
}

Unit::Unit(const Op &op) : original(&op), bodyGraph(new Graph) {
  llvm::DenseMap<const Value *, Value *> map;
  llvm::SmallVector<Op *, 2> heroOps;
  auto insert = [&](Op *made) { bodyGraph->insert(bodyGraph->end(), made); };
  // An operand becomes an input of the body, once, or a constant in it.
  auto bind = [&](Value *outer) {
    Value *&inner = map[outer];
    if (inner)
      return inner;
    if (const Op *constant = uniformConstant(outer)) {
      Op *made = copyOp(*constant, {});
      insert(made);
      return inner = made->result();
    }
    outerInputs.push_back(outer);
    return inner = bodyGraph->addInput(outer->type(), outer->name);
  };

  if (op.kind() != OpKind::Fusion) {
    llvm::SmallVector<Value *, 4> operands;
    for (Value *v : op.operands())
      operands.push_back(v ? bind(v) : nullptr);
    Op *made = copyOp(op, operands);
    insert(made);
    sole = made;
    if (!isElementwise(op))
      heroOps.push_back(made);
    for (unsigned i = 0; i < op.numResults(); i++)
      bodyGraph->addOutput(made->result(i));
    bodyParts = fusionParts(*bodyGraph, heroOps);
    return;
  }
  auto fusion = llvm::cast<FusionOp>(&op);
  Graph &body = fusion.body();
  for (unsigned i = 0; i < body.numInputs(); i++)
    if (Value *outer = op.operand(i))
      map[body.input(i)] = bind(outer);
  unsigned others = 0;
  for (Op &inner : body.ops()) {
    llvm::SmallVector<Value *, 4> operands;
    for (Value *v : inner.operands())
      operands.push_back(v ? map[v] : nullptr);
    Op *made = copyOp(inner, operands);
    insert(made);
    for (unsigned i = 0; i < inner.numResults(); i++)
      map[inner.result(i)] = made->result(i);
    if (!isElementwise(*made))
      heroOps.push_back(made);
    if (made->kind() != OpKind::Constant) {
      sole = made;
      others++;
    }
  }
  if (others != 1)
    sole = nullptr;
  for (Value *v : body.outputs())
    bodyGraph->addOutput(map[v]);
  bodyParts = fusionParts(*bodyGraph, heroOps);
}

Unit::~Unit() = default;

bool Unit::isLoop() const { return heroes().empty(); }

int64_t Unit::streamedBytes() const {
  int64_t bytes = 1;
  auto see = [&](const TensorType &type) {
    bytes = std::max<int64_t>(bytes, bitWidth(type.element) / 8);
  };
  for (const Value *v : outerInputs) {
    const Op *maker = v->definingOp();
    if (!maker || maker->kind() != OpKind::Constant)
      see(v->type());
  }
  for (unsigned i = 0; i < numResults(); i++)
    see(resultType(i));
  return bytes;
}

int64_t Unit::vectorWidth(const Dim &extent, const SymbolTable &symbols) const {
  int64_t width = 16 / streamedBytes();
  while (width > 1 && !isMultipleOf(extent, width, symbols))
    width /= 2;
  return width;
}

bool Unit::isEmpty() const {
  // Its count is a result, too.
  if (sole && sole->kind() == OpKind::NonZero)
    return false;
  for (unsigned i = 0; i < numResults(); i++)
    if (!resultType(i).elementCount().isConstant(0))
      return false;
  return true;
}
