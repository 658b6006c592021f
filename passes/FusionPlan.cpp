// SPDX-License-Identifier: Apache-2.0
// Clusters of ops and the guarantee that they can be contracted.
#include "passes/FusionPlan.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

void Refusals::report(const FusionPlan &plan,
                      const PassContext &context) const {
  for (const Op *op : plan.ops())
    if (auto it = reasons.find(op); it != reasons.end())
      context.decline(*op, it->second);
}

FusionPlan::FusionPlan(Graph &graph) : graph(graph) {
  for (Op &op : graph) {
    positions[&op] = unsigned(opList.size());
    opList.push_back(&op);
  }
  clusterIds.assign(opList.size(), -1);
  stamps.assign(opList.size(), 0);
}

unsigned FusionPlan::create(FusionKind kind, Op *seed) {
  unsigned id = numClusters();
  clusters.emplace_back();
  clusters.back().kind = kind;
  join(id, seed, false);
  return id;
}

std::optional<unsigned> FusionPlan::clusterOf(const Op *op) const {
  auto it = positions.find(op);
  if (it == positions.end() || clusterIds[it->second] < 0)
    return std::nullopt;
  return unsigned(clusterIds[it->second]);
}

void FusionPlan::join(unsigned id, Op *op, bool asCopy) {
  if (asCopy) {
    if (clusters[id].copies.insert(op))
      holders[op].push_back(id);
    return;
  }
  if (clusters[id].copies.remove(op))
    llvm::erase(holders[op], id);
  clusters[id].members.insert(op);
  clusterIds[position(op)] = int(id);
}

void FusionPlan::leave(unsigned id, Op *op) {
  if (clusters[id].copies.remove(op)) {
    llvm::erase(holders[op], id);
    return;
  }
  clusters[id].members.remove(op);
  clusterIds[position(op)] = -1;
}

void FusionPlan::merge(unsigned into, unsigned from) {
  Cluster old = clusters[from];
  clusters[from].members.clear();
  clusters[from].copies.clear();
  clusters[from].abandoned = true;
  for (Op *op : old.members)
    join(into, op, false);
  for (Op *op : old.copies) {
    llvm::erase(holders[op], from);
    // Copied into both and read by nobody else: no copy any more.
    if (clusters[into].copies.contains(op) &&
        !isReadOutside(op->result(), into))
      join(into, op, false);
    else if (!clusters[into].members.contains(op))
      join(into, op, true);
  }
  llvm::append_range(clusters[into].heroes, old.heroes);
}

bool FusionPlan::willBeDead(const Op *op) const {
  auto it = holders.find(op);
  if (it == holders.end() || it->second.empty())
    return false;
  for (unsigned i = 0; i < op->numResults(); ++i) {
    if (op->result(i)->isOutput())
      return false;
    for (const Use &use : op->result(i)->uses())
      if (isReadBy(use.op, op, numClusters()))
        return false;
  }
  return true;
}

// Does `reader`, itself or a copy of it, need what `producer` computes in
// cluster `id`, from outside?
bool FusionPlan::isReadBy(const Op *reader, const Op *producer,
                          unsigned id) const {
  auto needs = [&](unsigned cluster) {
    return cluster != id &&
           !clusters[cluster].copies.contains(const_cast<Op *>(producer));
  };
  std::optional<unsigned> own = clusterOf(reader);
  bool member = own && !clusters[*own].abandoned;
  if (member ? needs(*own) : !willBeDead(reader))
    return true;
  return llvm::any_of(holders.lookup(reader), needs);
}

bool FusionPlan::isReadOutside(const Value *value, unsigned id) const {
  return value->isOutput() || llvm::any_of(value->uses(), [&](const Use &use) {
           return isReadBy(use.op, value->definingOp(), id);
         });
}

void FusionPlan::pushOperands(const Op *op,
                              llvm::SmallVectorImpl<Op *> &stack) const {
  for (const Value *operand : op->operands())
    if (operand && operand->definingOp())
      stack.push_back(operand->definingOp());
}

void FusionPlan::pushNeeded(const Cluster &c,
                            llvm::SmallVectorImpl<Op *> &stack) const {
  llvm::SmallVector<Op *, 16> producers;
  for (Op *member : c.members)
    pushOperands(member, producers);
  for (Op *copy : c.copies)
    pushOperands(copy, producers);
  for (Op *producer : producers)
    if (!c.holds(producer))
      stack.push_back(producer);
}

bool FusionPlan::dependsOn(llvm::ArrayRef<Op *> starts, unsigned id,
                           const Op *target) {
  ++search;
  llvm::SmallVector<Op *, 32> stack(starts.begin(), starts.end());
  while (!stack.empty()) {
    Op *op = stack.pop_back_val();
    auto it = positions.find(op);
    if (it == positions.end() || stamps[it->second] == search)
      continue;
    stamps[it->second] = search;
    if (op == target)
      return true;
    int own = clusterIds[it->second];
    if (own < 0) {
      pushOperands(op, stack);
      continue;
    }
    if (unsigned(own) == id)
      return true;
    // Contracted: whoever needs one member needs what all of them need.
    for (Op *member : clusters[unsigned(own)].members) {
      stamps[position(member)] = search;
      if (member == target)
        return true;
    }
    pushNeeded(clusters[unsigned(own)], stack);
  }
  return false;
}

bool FusionPlan::wouldCycle(unsigned id, Op *op, bool asCopy) {
  const Cluster &c = clusters[id];
  llvm::SmallVector<Op *, 16> all, starts;
  pushOperands(op, all);
  for (Op *producer : all)
    if (!c.holds(producer))
      starts.push_back(producer);
  if (dependsOn(starts, id, nullptr))
    return true;
  if (asCopy)
    return false;
  // Does the cluster need something that `op` feeds from outside?
  bool feedsOutside = false;
  for (unsigned i = 0; i < op->numResults(); ++i)
    for (const Use &use : op->result(i)->uses())
      feedsOutside |= !c.members.contains(use.op);
  if (!feedsOutside)
    return false;
  all.clear();
  starts.clear();
  pushNeeded(c, all);
  for (Op *producer : all)
    if (producer != op)
      starts.push_back(producer);
  return dependsOn(starts, id, op);
}

bool FusionPlan::wouldCycle(unsigned a, unsigned b) {
  auto needs = [&](unsigned from, unsigned on) {
    llvm::SmallVector<Op *, 16> all, starts;
    pushNeeded(clusters[from], all);
    for (Op *producer : all)
      if (!clusters[on].holds(producer))
        starts.push_back(producer);
    return dependsOn(starts, on, nullptr);
  };
  return needs(a, b) || needs(b, a);
}

llvm::SmallVector<Op *, 16> FusionPlan::sorted(unsigned id) const {
  const Cluster &c = clusters[id];
  llvm::SmallVector<Op *, 16> result(c.members.begin(), c.members.end());
  llvm::append_range(result, c.copies);
  llvm::sort(result, [&](Op *a, Op *b) { return position(a) < position(b); });
  return result;
}

llvm::SmallVector<Value *, 8> FusionPlan::inputs(unsigned id) const {
  llvm::SetVector<Value *> result;
  for (Op *op : sorted(id))
    for (Value *operand : op->operands()) {
      if (!operand || isLiteral(operand))
        continue;
      Op *producer = operand->definingOp();
      if (!producer || !clusters[id].holds(producer))
        result.insert(operand);
    }
  return llvm::SmallVector<Value *, 8>(result.begin(), result.end());
}

llvm::SmallVector<Value *, 4> FusionPlan::yields(unsigned id) const {
  const Cluster &c = clusters[id];
  llvm::SmallVector<Value *, 4> result;
  for (Op *op : sorted(id)) {
    if (!c.members.contains(op))
      continue;
    for (unsigned i = 0; i < op->numResults(); ++i) {
      Value *value = op->result(i);
      if (isReadOutside(value, id))
        result.push_back(value);
    }
  }
  return result;
}

} // namespace dlc
