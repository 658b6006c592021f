// SPDX-License-Identifier: Apache-2.0
// Graphs and modules.
#include "ir/Graph.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace dlc {

constexpr uint64_t orderStride = 1 << 16;

Graph::~Graph() {
  // Everything dies together, so no use list has to be kept right.
  for (Op &op : opList) {
    op.operandList.clear();
    for (auto &value : op.resultList)
      value->useList.clear();
  }
  outputList.clear();
}

Value *Graph::addInput(TensorType type, std::string name) {
  auto value = std::make_unique<Value>();
  value->valueType = std::move(type);
  value->name = std::move(name);
  value->graph = this;
  value->position = numInputs();
  inputList.push_back(std::move(value));
  return inputList.back().get();
}

Module *Graph::module() const {
  const Graph *graph = this;
  while (graph && !graph->parentModule)
    graph = graph->owner ? graph->owner->parent() : nullptr;
  return graph ? graph->parentModule : nullptr;
}

void Graph::insert(OpList::iterator before, Op *op) {
  DLC_CHECK(!op->parentGraph) << op->mnemonic() << " is in a graph already";
  uint64_t previous = 0;
  bool known = true;
  if (before != opList.begin()) {
    previous = std::prev(before)->order;
    known = previous != 0;
  }
  uint64_t next =
      before == opList.end() ? previous + 2 * orderStride : before->order;
  op->order =
      known && next > previous + 1 ? previous + (next - previous) / 2 : 0;
  opList.insert(before, op);
  op->parentGraph = this;
}

void Graph::remove(Op *op) {
  DLC_CHECK(op->parentGraph == this) << op->mnemonic() << " is elsewhere";
  opList.remove(op);
  op->parentGraph = nullptr;
  op->order = 0;
}

void Graph::renumber() const {
  uint64_t order = 0;
  for (const Op &op : opList)
    op.order = order += orderStride;
}

void Graph::replaceAllUses(Value *from, Value *to) {
  DLC_CHECK(from != to) << "a value replaces itself";
  for (const Use &use : from->useList) {
    use.op->operandList[use.index] = to;
    to->useList.push_back(use);
  }
  from->useList.clear();
  for (Value *&output : outputList)
    if (output == from)
      output = to;
}

void Graph::cloneFrom(const Graph &other) {
  DLC_CHECK(opList.empty() && inputList.empty()) << "the graph is not empty";
  llvm::DenseMap<Value *, Value *> copies;
  name = other.name;
  for (const auto &in : other.inputList)
    copies[in.get()] = addInput(in->type(), in->name);
  auto map = [&](Value *v) { return copies.lookup(v); };
  for (const Op &op : other.opList) {
    Op *copy = op.clone(map);
    for (unsigned i = 0; i != op.numResults(); ++i)
      copies[op.result(i)] = copy->result(i);
    insert(end(), copy);
  }
  outputList.clear();
  for (Value *out : other.outputList)
    outputList.push_back(copies.lookup(out));
  outputNames = other.outputNames;
}

Module::Module() : mainGraph(std::make_unique<Graph>()) {
  mainGraph->parentModule = this;
  mainGraph->name = "main";
}

std::unique_ptr<Module> Module::clone() const {
  auto copy = std::make_unique<Module>();
  copy->name = name;
  copy->symbols = symbols;
  copy->constraints = constraints;
  copy->mainGraph->cloneFrom(*mainGraph);
  return copy;
}

} // namespace dlc
