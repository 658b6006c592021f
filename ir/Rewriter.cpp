// SPDX-License-Identifier: Apache-2.0
// The only way in which a pass changes a graph.
#include "ir/Rewriter.h"

#include "ir/Ops.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

Rewriter::Rewriter(Graph &graph) : currentGraph(&graph), builder(graph) {
  builder.onCreate = [this](Op *op) {
    hasChanged = true;
    enqueue(op);
  };
}

Builder &Rewriter::at(Op *op) {
  builder.setInsertionPoint(op);
  builder.location = op->location();
  return builder;
}

void Rewriter::enqueue(Op *op) {
  if (op->parent() == currentGraph &&
      worklistIndex.try_emplace(op, worklist.size()).second)
    worklist.push_back(op);
}

Op *Rewriter::dequeue() {
  while (!worklist.empty()) {
    Op *op = worklist.back();
    worklist.pop_back();
    if (!op)
      continue;
    worklistIndex.erase(op);
    return op;
  }
  return nullptr;
}

void Rewriter::enqueueUsers(Value *value) {
  for (const Use &use : value->uses())
    enqueue(use.op);
}

void Rewriter::enqueueProducer(Value *value) {
  if (value && value->definingOp())
    enqueue(value->definingOp());
}

void Rewriter::replace(Op *op, llvm::ArrayRef<Value *> with) {
  DLC_CHECK(with.size() == op->numResults())
      << op->mnemonic() << " has " << op->numResults() << " results, "
      << with.size() << " replace them";
  for (unsigned i = 0; i != with.size(); ++i) {
    DLC_CHECK(with[i]->type().element == op->result(i)->type().element &&
              with[i]->type().rank() == op->result(i)->type().rank())
        << op->mnemonic() << ": " << op->result(i)->type() << " is replaced by "
        << with[i]->type();
    if (Op *producer = with[i]->definingOp())
      producer->setLocation(
          Location::join({producer->location(), op->location()}));
    replaceValue(op->result(i), with[i]);
  }
  erase(op);
}

void Rewriter::replaceValue(Value *from, Value *to) {
  enqueueUsers(from);
  enqueueProducer(from);
  enqueueProducer(to);
  currentGraph->replaceAllUses(from, to);
  hasChanged = true;
}

void Rewriter::setOperand(Op *op, unsigned i, Value *value) {
  enqueueProducer(op->operand(i));
  enqueueProducer(value);
  op->setOperand(i, value);
  enqueue(op);
  hasChanged = true;
}

void Rewriter::setOperands(Op *op, llvm::ArrayRef<Value *> values) {
  for (Value *v : op->operands())
    enqueueProducer(v);
  op->setOperands(values);
  enqueue(op);
  hasChanged = true;
}

void Rewriter::setAttribute(Op *op, unsigned i, Attribute a) {
  op->setAttribute(i, std::move(a));
  for (unsigned r = 0; r != op->numResults(); ++r)
    enqueueUsers(op->result(r));
  enqueue(op);
  hasChanged = true;
}

void Rewriter::setType(Value *value, TensorType type) {
  value->setType(std::move(type));
  enqueueUsers(value);
  enqueueProducer(value);
  hasChanged = true;
}

void Rewriter::moveBefore(Op *op, Op *place) {
  if (op == place)
    return;
  op->parent()->remove(op);
  place->parent()->insert(place->getIterator(), op);
  hasChanged = true;
}

void Rewriter::erase(Op *op) {
  llvm::SmallVector<Value *, 4> operands(op->operands());
  if (auto it = worklistIndex.find(op); it != worklistIndex.end()) {
    worklist[it->second] = nullptr;
    worklistIndex.erase(it);
  }
  op->erase();
  hasChanged = true;
  for (Value *v : operands) {
    enqueueProducer(v); // perhaps dead now
    // Patterns ask for a single use: whoever is left may match now.
    if (v && v->uses().size() <= 2)
      enqueueUsers(v);
  }
}

void Rewriter::setOutput(unsigned i, Value *value) {
  Value *old = currentGraph->outputs()[i];
  if (old == value)
    return;
  currentGraph->setOutput(i, value);
  enqueueProducer(old);
  enqueueProducer(value);
  hasChanged = true;
}

/// Does an op of the graph, other than `counter`, have the symbol in a size?
static bool mentions(Graph &graph, llvm::StringRef symbol, const Op *counter) {
  auto has = [&](llvm::ArrayRef<Dim> dims) {
    bool found = false;
    for (const Dim &d : dims)
      d.forEachSymbol([&](llvm::StringRef name) { found |= name == symbol; });
    return found;
  };
  for (Op &op : graph.ops()) {
    if (&op == counter)
      continue;
    for (unsigned i = 0; i != op.numAttributes(); ++i)
      if (const auto *dims = std::get_if<std::vector<Dim>>(&op.attribute(i));
          dims && has(*dims))
        return true;
    for (unsigned i = 0; i != op.numResults(); ++i)
      if (has(op.result(i)->type().shape))
        return true;
    for (unsigned i = 0; i != op.numRegions(); ++i)
      if (mentions(op.region(i), symbol, counter))
        return true;
  }
  return false;
}

/// Nobody needs its results, nor what it counts.
static bool isDead(Op &op) {
  if (!op.hasTrait(OpTrait::Pure) || !op.isUnused())
    return false;
  std::string symbol;
  if (auto nonzero = llvm::dyn_cast<NonZeroOp>(&op))
    symbol = nonzero.countSymbol();
  else if (auto nms = llvm::dyn_cast<NonMaxSuppressionOp>(&op))
    symbol = nms.countSymbol();
  else
    return true;
  Graph *whole = op.parent();
  while (Op *around = whole->parentOp())
    whole = around->parent();
  return !mentions(*whole, symbol, &op);
}

void Rewriter::greedily(llvm::function_ref<bool(Op *, Rewriter &)> apply) {
  size_t ops = 0;
  for (Op &op : llvm::reverse(currentGraph->ops())) {
    enqueue(&op);
    ++ops;
  }
  // Far above what any set of rules that ends can need.
  size_t limit = 1000000 + 1000 * ops;
  while (Op *op = dequeue()) {
    DLC_CHECK(limit-- != 0) << "rewriting does not end, at " << op->mnemonic();
    if (isDead(*op)) {
      erase(op);
      continue;
    }
    if (apply(op, *this))
      hasChanged = true;
  }
}

void Rewriter::eraseDeadOps() {
  for (Op &op : llvm::make_early_inc_range(llvm::reverse(currentGraph->ops())))
    if (isDead(op))
      erase(&op);
}

} // namespace dlc
