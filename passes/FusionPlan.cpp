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
    clusters[id].copies.insert(op);
    return;
  }
  clusters[id].copies.remove(op);
  clusters[id].members.insert(op);
  clusterIds[position(op)] = int(id);
}

void FusionPlan::leave(unsigned id, Op *op) {
  if (!clusters[id].copies.remove(op)) {
    clusters[id].members.remove(op);
    clusterIds[position(op)] = -1;
  }
}

void FusionPlan::merge(unsigned into, unsigned from) {
  for (Op *op : clusters[from].members) {
    clusterIds[position(op)] = int(into);
    clusters[into].copies.remove(op);
    clusters[into].members.insert(op);
  }
  for (Op *op : clusters[from].copies) {
    // Copied into both and read by nobody else: no copy any more.
    if (clusters[into].copies.contains(op) && !op->result()->isOutput() &&
        llvm::all_of(op->result()->uses(), [&](const Use &use) {
          return clusters[into].members.contains(use.op);
        }))
      join(into, op, false);
    else if (!clusters[into].members.contains(op))
      clusters[into].copies.insert(op);
  }
  llvm::append_range(clusters[into].heroes, clusters[from].heroes);
  clusters[from].members.clear();
  clusters[from].copies.clear();
  clusters[from].abandoned = true;
}

void FusionPlan::pushOperands(const Op *op,
                              llvm::SmallVectorImpl<Op *> &stack) const {
  for (const Value *operand : op->operands())
    if (operand && operand->definingOp())
      stack.push_back(operand->definingOp());
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
      pushOperands(member, stack);
    }
    for (Op *copy : clusters[unsigned(own)].copies)
      pushOperands(copy, stack);
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
  for (Op *member : c.members)
    pushOperands(member, all);
  for (Op *copy : c.copies)
    pushOperands(copy, all);
  for (Op *producer : all)
    if (producer != op && !c.holds(producer))
      starts.push_back(producer);
  return dependsOn(starts, id, op);
}

bool FusionPlan::wouldCycle(unsigned a, unsigned b) {
  auto needs = [&](unsigned from, unsigned on) {
    llvm::SmallVector<Op *, 16> all, starts;
    for (Op *member : clusters[from].members)
      pushOperands(member, all);
    for (Op *copy : clusters[from].copies)
      pushOperands(copy, all);
    for (Op *producer : all)
      if (!clusters[from].holds(producer) && !clusters[on].holds(producer))
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
      if (value->isOutput() || llvm::any_of(value->uses(), [&](const Use &use) {
            return !c.members.contains(use.op);
          }))
        result.push_back(value);
    }
  }
  return result;
}

} // namespace dlc
