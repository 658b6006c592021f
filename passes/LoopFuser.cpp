// SPDX-License-Identifier: Apache-2.0
// Grows loops from their results upwards.
#include "passes/LoopFuser.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

// A value needed at more places than this is better stored once.
static constexpr size_t kMaxCoordinates = 3;
// Below this size a second kernel costs more than repeated functions.
static constexpr int64_t kSmallSpace = 4 << 20;

static bool mayBeInLoop(const Op &op) {
  return op.hasTrait(OpTrait::Pointwise) || op.hasTrait(OpTrait::View) ||
         op.kind() == OpKind::Gather || op.kind() == OpKind::GatherElements ||
         op.kind() == OpKind::GatherNd || op.kind() == OpKind::Iota ||
         (op.kind() == OpKind::Dims && !isLiteral(op.result()));
}

static bool isExpensive(const Op &op) {
  switch (op.kind()) {
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Max:
  case OpKind::Min:
  case OpKind::Neg:
  case OpKind::Abs:
  case OpKind::Relu:
  case OpKind::Equal:
  case OpKind::Less:
  case OpKind::LessEqual:
  case OpKind::Select:
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Not:
  case OpKind::Cast:
  case OpKind::Convert:
    return false;
  default:
    return op.hasTrait(OpTrait::Pointwise);
  }
}

unsigned LoopFuser::coordinate(unsigned of, llvm::StringRef change) {
  auto [it, isNew] = coordinateIds.try_emplace(
      {of, change.str()}, unsigned(coordinateIds.size() + 1));
  return it->second;
}

static std::string shapeKey(llvm::ArrayRef<Dim> shape) {
  std::string key;
  for (const Dim &dim : shape)
    key += dim.str() + ",";
  return key;
}

// Walks the loop from its results to its operands. 0 names the loop's own
// coordinates; a view, or a broadcast to a shape, makes others of them.
LoopFuser::Coordinates LoopFuser::coordinatesIn(unsigned id, Op *wanted) {
  llvm::DenseMap<const Value *, llvm::SetVector<unsigned>> at;
  llvm::SmallVector<Op *, 16> ops = plan.sorted(id);
  if (!llvm::is_contained(ops, wanted))
    ops.insert(llvm::lower_bound(ops, wanted,
                                 [&](Op *a, Op *b) {
                                   return plan.position(a) < plan.position(b);
                                 }),
               wanted);
  for (Value *value : plan.yields(id))
    at[value].insert(0);
  for (Op *op : llvm::reverse(ops)) {
    if (op == wanted)
      break;
    llvm::SetVector<unsigned> own = at[op->result()];
    for (auto [i, operand] : llvm::enumerate(op->operands())) {
      if (!operand)
        continue;
      for (unsigned c : own) {
        unsigned inner = c;
        if (op->hasTrait(OpTrait::Pointwise)) {
          if (!sameShape(operand, op->result()))
            inner = coordinate(c, shapeKey(operand->type().shape));
        } else if (op->kind() != OpKind::LayoutCopy) {
          inner = coordinate(c, std::to_string(plan.position(op)) + ":" +
                                    std::to_string(i));
        }
        at[operand].insert(inner);
      }
    }
  }
  Coordinates result;
  for (unsigned c : at[wanted->result()])
    result.ids.push_back(c);
  return result;
}

bool LoopFuser::mayJoin(unsigned id, Op *op, bool asCopy, bool asYield) {
  if (plan.cluster(id).size() >= kMaxBodyOps) {
    refusals.add(op, "the fusion is as large as a kernel may be");
    return false;
  }
  Coordinates coordinates = coordinatesIn(id, op);
  if (asYield && !coordinates.ownOnly()) {
    refusals.add(op, "others read it too, and the loop reads it at other "
                     "coordinates");
    return false;
  }
  if (!isFreeToRepeat(*op) && coordinates.ids.size() > kMaxCoordinates) {
    refusals.add(op, "the loop would compute it at too many coordinates");
    return false;
  }
  Value *result = plan.yields(id).front();
  std::optional<int64_t> space = result->type().elementCount().tryConstant();
  bool repeated =
      coordinates.ids.size() > 1 ||
      op->result()->type().elementCount() != result->type().elementCount();
  if (isExpensive(*op) && repeated && space && *space > kSmallSpace) {
    refusals.add(op, "the loop would compute an expensive function again for "
                     "each element");
    return false;
  }
  if (plan.wouldCycle(id, op, asCopy)) {
    refusals.add(op, "another operand of the loop depends on it");
    return false;
  }
  return true;
}

// Loops over one space that all read `op` at their own coordinates: one loop.
bool LoopFuser::mergeAround(Op *op, llvm::ArrayRef<unsigned> ids) {
  unsigned first = ids.front();
  llvm::ArrayRef<Dim> shape = op->result()->type().shape;
  for (unsigned id : ids)
    if (!sameShape(plan.yields(id).front()->type().shape, shape) ||
        !coordinatesIn(id, op).ownOnly())
      return false;
  for (unsigned id : ids.drop_front()) {
    if (plan.cluster(first).size() + plan.cluster(id).size() >= kMaxBodyOps ||
        plan.yields(first).size() + plan.yields(id).size() > kMaxYields ||
        plan.wouldCycle(first, id))
      return false;
    plan.merge(first, id);
    llvm::append_range(joined[first], joined[id]);
    for (auto &[op, places] : copied)
      std::replace(places.begin(), places.end(), id, first);
  }
  return true;
}

void LoopFuser::place(Op *op) {
  Value *value = op->result();
  llvm::SetVector<unsigned> ids;
  bool elsewhere = value->isOutput();
  for (const Use &use : value->uses()) {
    // An op that was copied wherever it is read will be gone.
    if (auto it = copied.find(use.op); it != copied.end())
      ids.insert(it->second.begin(), it->second.end());
    else if (std::optional<unsigned> id = plan.clusterOf(use.op))
      ids.insert(*id);
    else
      elsewhere = true;
  }
  auto joinAll = [&](bool asCopy) {
    for (unsigned id : ids) {
      plan.join(id, op, asCopy);
      joined[id].push_back(op);
    }
    if (asCopy)
      copied[op].assign(ids.begin(), ids.end());
  };
  if (!ids.empty() && !elsewhere) {
    bool asCopy = ids.size() > 1;
    if (!asCopy || isFreeToRepeat(*op)) {
      if (llvm::all_of(ids, [&](unsigned id) {
            return mayJoin(id, op, asCopy, false);
          })) {
        joinAll(asCopy);
        return;
      }
    } else if (mergeAround(op, ids.getArrayRef()) &&
               mayJoin(ids.front(), op, false, false)) {
      plan.join(ids.front(), op, false);
      joined[ids.front()].push_back(op);
      return;
    }
  }
  // A second result of a loop over the same space.
  for (unsigned id : ids) {
    if (plan.cluster(id).abandoned || isFreeToRepeat(*op) ||
        plan.yields(id).size() >= kMaxYields)
      continue;
    if (!sameShape(plan.yields(id).front()->type().shape,
                   value->type().shape)) {
      refusals.add(op, "others read it too, and the loop reads it at other "
                       "coordinates");
      continue;
    }
    if (!mayJoin(id, op, false, true))
      continue;
    plan.join(id, op, false);
    joined[id].push_back(op);
    return;
  }
  joined[plan.create(FusionKind::Loop, op)] = {};
}

void LoopFuser::settle(unsigned id) {
  for (;;) {
    std::string why = plan.whyNoKernel(id, context);
    if (why.empty())
      return;
    if (joined[id].empty()) {
      refusals.add(plan.cluster(id).members.front(), why);
      plan.cluster(id).abandoned = true;
      return;
    }
    // What joined last stands furthest from the results.
    Op *op = joined[id].pop_back_val();
    refusals.add(op, why);
    plan.leave(id, op);
  }
}

bool LoopFuser::run(Rewriter &rewriter) {
  std::vector<Op *> ops(plan.ops().begin(), plan.ops().end());
  for (Op *op : llvm::reverse(ops))
    if (mayBeInLoop(*op) && op->numResults() == 1 && !op->isUnused())
      place(op);
  for (unsigned id = 0; id < plan.numClusters(); ++id)
    if (!plan.cluster(id).abandoned) {
      settle(id);
      // One op alone is no fusion of several.
      if (plan.cluster(id).size() < 2)
        plan.cluster(id).abandoned = true;
    }
  refusals.report(plan, context);
  return plan.materialize(rewriter);
}

} // namespace dlc
