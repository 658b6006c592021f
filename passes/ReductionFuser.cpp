// SPDX-License-Identifier: Apache-2.0
// Grows one reduction at a time: what it follows, what follows it, and other
// reductions over the same rows.
#include "passes/ReductionFuser.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

// Each reads its rows once more.
static constexpr size_t kMaxHeroes = 6;

bool ReductionFuser::sameRows(const Rows &rows, const Op &op) const {
  ReduceOp reduce(const_cast<Op *>(&op));
  const TensorType &type = reduce.input()->type();
  return rows.places.isFull(type.shape) &&
         llvm::ArrayRef<int64_t>(normalAxes(reduce.axes(), type.rank())) ==
             rows.places.reducedAxes();
}

bool ReductionFuser::join(Rows &rows, Op *op, bool asCopy,
                          FusionPlaces::Info info) {
  if (plan.cluster(rows.id).size() >= kMaxBodyOps) {
    refusals.add(op, "the fusion is as large as a kernel may be");
    return false;
  }
  if (plan.wouldCycle(rows.id, op, asCopy)) {
    refusals.add(op, "another operand of it depends on the fusion");
    return false;
  }
  plan.join(rows.id, op, asCopy);
  refusals.withdraw(op);
  rows.places.enter(op->result(), info);
  rows.joined.push_back(op);
  return true;
}

bool ReductionFuser::joinHero(Rows &rows, Op *reduce) {
  if (plan.clusterOf(reduce))
    return false;
  if (!sameRows(rows, *reduce)) {
    refusals.add(reduce, "it reduces other rows than the reduction beside it");
    return false;
  }
  const FusionPlaces::Info *input = rows.places.find(reduce->operand(0));
  if (input && input->place != Place::Full) {
    refusals.add(reduce, "its operand lies at other coordinates");
    return false;
  }
  if (plan.cluster(rows.id).heroes.size() >= kMaxHeroes) {
    refusals.add(reduce, "the fusion has as many reductions as it may");
    return false;
  }
  if (!join(rows, reduce, false, {Place::Row, nullptr, true}))
    return false;
  plan.cluster(rows.id).heroes.push_back(reduce);
  return true;
}

// An op that reads a value of the fusion.
bool ReductionFuser::joinAfter(Rows &rows, Value *value, Op *user) {
  if (plan.clusterOf(user) || plan.cluster(rows.id).holds(user))
    return false;
  if (user->kind() == OpKind::Reduce)
    return joinHero(rows, user);
  const FusionPlaces::Info *info = rows.places.find(value);
  // What depends on no reduction need not be computed here.
  if (!info || !info->afterHero)
    return false;
  if (!user->hasTrait(OpTrait::View) && !user->hasTrait(OpTrait::Pointwise))
    return false;
  if (isFreeToRepeat(*user) && info->place != Place::Row &&
      !value->hasOneUse()) {
    refusals.add(user, "its operand is stored for others anyway: who reads it "
                       "computes it");
    return false;
  }
  std::string why;
  std::optional<FusionPlaces::Info> place = rows.places.afterOf(*user, why);
  if (!place) {
    refusals.add(user, why);
    return false;
  }
  return join(rows, user, false, *place);
}

// The op that makes a value which the fusion reads.
bool ReductionFuser::joinBefore(Rows &rows, Value *value) {
  Op *op = value->definingOp();
  if (!op || op->numResults() != 1 || plan.clusterOf(op) ||
      plan.cluster(rows.id).holds(op))
    return false;
  bool only = !plan.isReadOutside(value, rows.id);
  if (op->kind() == OpKind::Reduce)
    return joinHero(rows, op);
  bool view = isFreeToRepeat(*op);
  std::string why;
  std::optional<FusionPlaces::Info> info = rows.places.beforeOf(*op, why);
  if (!info)
    return false;
  // A second result costs one store; a second computation may cost more.
  if (!only && !view && info->place != Place::Full) {
    refusals.add(op, "others read it too, and it is smaller than the fusion");
    return false;
  }
  return join(rows, op, !only && view, *info);
}

// Other reductions of what this one reads: the rows are read once.
bool ReductionFuser::joinSiblings(Rows &rows, Value *value) {
  if (!rows.places.isFull(value->type().shape))
    return false;
  bool changed = false;
  llvm::SmallVector<Use, 4> uses(value->uses());
  for (const Use &use : uses)
    if (use.op->kind() == OpKind::Reduce &&
        !plan.cluster(rows.id).holds(use.op) && sameRows(rows, *use.op))
      changed |= joinHero(rows, use.op);
  return changed;
}

bool ReductionFuser::growOnce(Rows &rows) {
  for (Op *op : plan.sorted(rows.id)) {
    if (plan.cluster(rows.id).copies.contains(op))
      continue;
    Value *value = op->result();
    llvm::SmallVector<Use, 4> uses(value->uses());
    for (const Use &use : uses)
      if (joinAfter(rows, value, use.op))
        return true;
  }
  for (Value *value : plan.inputs(rows.id))
    if (joinSiblings(rows, value) || joinBefore(rows, value))
      return true;
  return false;
}

void ReductionFuser::settle(Rows &rows) {
  for (;;) {
    std::string why = plan.whyNoKernel(rows.id, context);
    if (why.empty())
      return;
    if (rows.joined.empty()) {
      refusals.add(plan.cluster(rows.id).heroes.front(), why);
      return;
    }
    Op *op = rows.joined.pop_back_val();
    refusals.add(op, why);
    llvm::erase(plan.cluster(rows.id).heroes, op);
    plan.leave(rows.id, op);
    rows.places.forget(op);
  }
}

bool ReductionFuser::run(Rewriter &rewriter) {
  std::vector<Op *> ops(plan.ops().begin(), plan.ops().end());
  for (Op *op : ops) {
    auto reduce = llvm::dyn_cast<ReduceOp>(op);
    if (!reduce || plan.clusterOf(op))
      continue;
    const TensorType &type = reduce.input()->type();
    std::vector<int64_t> axes = normalAxes(reduce.axes(), type.rank());
    unsigned id = plan.create(FusionKind::Reduction, op);
    plan.cluster(id).heroes.push_back(op);
    Rows rows{id, FusionPlaces(type.shape, axes), {}};
    rows.places.enter(op->result(), {Place::Row, nullptr, true});
    while (growOnce(rows))
      ;
    settle(rows);
    if (rows.joined.empty())
      plan.cluster(id).abandoned = true;
  }
  refusals.report(plan, context);
  return plan.materialize(rewriter);
}

} // namespace dlc
