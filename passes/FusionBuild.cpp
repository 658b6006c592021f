// SPDX-License-Identifier: Apache-2.0
// Turns clusters into fusions.
#include "ir/FusionBody.h"
#include "passes/CloneOp.h"
#include "passes/FusionPlan.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

namespace dlc {

Op *FusionPlan::build(unsigned id) const {
  const Cluster &c = clusters[id];
  llvm::SmallVector<Value *, 8> operands = inputs(id);
  llvm::SmallVector<Op *, 16> ops = sorted(id);
  llvm::SmallVector<Location, 16> locations;
  for (Op *op : ops)
    locations.push_back(op->location());

  Op *fusion =
      FusionOp::make(Location::join(locations), operands, c.kind, {}, {}, {});
  Graph &body = fusion->region(0);
  ValueMap map;
  for (Value *operand : operands)
    map[operand] = body.addInput(operand->type());
  std::vector<int64_t> heroes(c.heroes.size(), -1);
  llvm::SmallVector<Op *, 2> heroOps(c.heroes.size(), nullptr);
  int64_t count = 0;
  auto append = [&](const Op &op) {
    Op *copy = cloneOp(op, map);
    body.insert(body.end(), copy);
    ++count;
    return copy;
  };
  for (Op *op : ops) {
    for (Value *operand : op->operands())
      if (operand && isLiteral(operand) && !map.count(operand))
        append(*operand->definingOp());
    int64_t place = count;
    Op *copy = append(*op);
    for (auto [i, hero] : llvm::enumerate(c.heroes))
      if (hero == op) {
        heroes[i] = place;
        heroOps[i] = copy;
      }
  }
  // Heroes in body order.
  llvm::sort(heroes);
  llvm::SmallVector<Op *, 2> ordered;
  for (Op &op : body)
    if (llvm::is_contained(heroOps, &op))
      ordered.push_back(&op);
  llvm::SmallVector<TensorType, 2> types;
  for (Value *value : yields(id)) {
    body.addOutput(map.lookup(value));
    types.push_back(value->type());
  }
  IterationSpace space = iterationSpace(c.kind, ordered, body.outputs());
  fusion->setAttribute(FusionOp::heroesAttr, heroes);
  fusion->setAttribute(
      FusionOp::spaceAttr,
      std::vector<Dim>(space.space.begin(), space.space.end()));
  fusion->setAttribute(
      FusionOp::reduceAttr,
      std::vector<Dim>(space.reduce.begin(), space.reduce.end()));
  fusion->setResultTypes(types);
  return fusion;
}

llvm::Expected<double> FusionPlan::price(unsigned id,
                                         const PassContext &context) const {
  Op *fusion = build(id);
  auto result = [&]() -> llvm::Expected<double> {
    if (llvm::Error error = verifyFusion(FusionOp(fusion)))
      return error;
    if (!context.costs || !context.target)
      return 0.0;
    llvm::Expected<Estimate> estimate =
        context.costs->price(FusionOp(fusion), *context.target);
    if (!estimate)
      return estimate.takeError();
    return estimate->microseconds;
  }();
  delete fusion;
  return result;
}

std::string FusionPlan::whyNoKernel(unsigned id,
                                    const PassContext &context) const {
  if (yields(id).size() > kMaxYields)
    return "the fusion would have too many results";
  if (inputs(id).size() > kMaxInputs)
    return "the fusion would have too many operands";
  llvm::Expected<double> microseconds = price(id, context);
  return microseconds ? "" : llvm::toString(microseconds.takeError());
}

std::vector<Op *> FusionPlan::contractedOrder() const {
  // A node is a cluster, named by its last member, or an op of no cluster.
  std::vector<unsigned> nodeOf(opList.size());
  for (unsigned i = 0; i < opList.size(); ++i)
    nodeOf[i] = i;
  for (unsigned id = 0; id < clusters.size(); ++id) {
    if (clusters[id].abandoned)
      continue;
    unsigned last = 0;
    for (Op *op : clusters[id].members)
      last = std::max(last, position(op));
    for (Op *op : clusters[id].members)
      nodeOf[position(op)] = last;
  }
  std::vector<std::vector<unsigned>> members(opList.size());
  for (unsigned i = 0; i < opList.size(); ++i)
    members[nodeOf[i]].push_back(i);

  std::vector<llvm::SmallVector<unsigned, 4>> users(opList.size());
  std::vector<unsigned> waiting(opList.size(), 0);
  auto depend = [&](llvm::ArrayRef<Op *> producers, unsigned node) {
    for (Op *producer : producers) {
      auto it = positions.find(producer);
      if (it == positions.end() || nodeOf[it->second] == node)
        continue;
      users[nodeOf[it->second]].push_back(node);
      ++waiting[node];
    }
  };
  for (unsigned i = 0; i < opList.size(); ++i) {
    std::optional<unsigned> id = clusterOf(opList[i]);
    if (id && !clusters[*id].abandoned)
      continue;
    llvm::SmallVector<Op *, 4> producers;
    pushOperands(opList[i], producers);
    depend(producers, i);
  }
  for (const Cluster &c : clusters) {
    if (c.abandoned)
      continue;
    llvm::SmallVector<Op *, 16> producers;
    pushNeeded(c, producers);
    depend(producers, nodeOf[position(c.members.front())]);
  }

  // Of what is ready, the op that stood first: stable and deterministic.
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<unsigned>>
      ready;
  for (unsigned i = 0; i < opList.size(); ++i)
    if (nodeOf[i] == i && waiting[i] == 0)
      ready.push(i);
  std::vector<Op *> order;
  while (!ready.empty()) {
    unsigned node = ready.top();
    ready.pop();
    for (unsigned i : members[node])
      order.push_back(opList[i]);
    for (unsigned user : users[node])
      if (--waiting[user] == 0)
        ready.push(user);
  }
  DLC_CHECK(order.size() == opList.size())
      << "clusters of graph '" << graph.name << "' depend on each other";
  return order;
}

bool FusionPlan::materialize(Rewriter &rewriter) {
  if (llvm::all_of(clusters, [](const Cluster &c) { return c.abandoned; }))
    return false;
  // Members of a cluster next to each other, everything in a valid order.
  auto cursor = graph.begin();
  for (Op *op : contractedOrder()) {
    if (&*cursor == op)
      ++cursor;
    else
      rewriter.moveBefore(op, &*cursor);
  }
  // All are built before any op goes: what one cluster copies may be a member
  // of another.
  struct Built {
    Op *fusion;
    llvm::SmallVector<Op *, 16> members;
    llvm::SmallVector<Value *, 4> yields;
  };
  std::vector<Built> built;
  for (unsigned id = 0; id < clusters.size(); ++id) {
    if (clusters[id].abandoned)
      continue;
    Built one;
    one.yields = yields(id);
    for (Op *op : sorted(id))
      if (clusters[id].members.contains(op))
        one.members.push_back(op);
    one.fusion = build(id);
    built.push_back(std::move(one));
  }
  for (Built &one : built) {
    graph.insert(one.members.front()->getIterator(), one.fusion);
    for (auto [i, value] : llvm::enumerate(one.yields)) {
      one.fusion->result(unsigned(i))->name = value->name;
      rewriter.replaceValue(value, one.fusion->result(unsigned(i)));
    }
  }
  // Users before producers. Ops that live on as copies only are dead.
  llvm::DenseSet<const Op *> gone;
  for (Built &one : built)
    gone.insert(one.members.begin(), one.members.end());
  for (Op *op : llvm::reverse(opList))
    if (gone.contains(op) || (holders.count(op) && op->isUnused()))
      rewriter.erase(op);
  return true;
}

} // namespace dlc
