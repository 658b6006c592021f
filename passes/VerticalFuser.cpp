// SPDX-License-Identifier: Apache-2.0
// Grows one contraction or window at a time: epilogue, side inputs, prologue.
#include "passes/VerticalFuser.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

// Will a reduction's kernel compute it?
static bool followsReduction(const Op &op, unsigned depth = 8) {
  if (op.kind() == OpKind::Reduce)
    return true;
  bool passesOn = op.hasTrait(OpTrait::Pointwise) ||
                  op.kind() == OpKind::Reshape ||
                  op.kind() == OpKind::Broadcast;
  return passesOn && depth > 0 &&
         llvm::any_of(op.operands(), [&](const Value *operand) {
           return operand && operand->definingOp() &&
                  followsReduction(*operand->definingOp(), depth - 1);
         });
}

bool VerticalFuser::join(Hero &hero, Op *op, bool asCopy,
                         FusionPlaces::Info info) {
  if (plan.cluster(hero.id).size() >= kMaxBodyOps) {
    refusals.add(op, "the fusion is as large as a kernel may be");
    return false;
  }
  if (hero.refused.contains(op))
    return false;
  if (plan.wouldCycle(hero.id, op, asCopy)) {
    refusals.add(op, "another operand of it depends on the fusion");
    return false;
  }
  plan.join(hero.id, op, asCopy);
  refusals.withdraw(op);
  hero.places.enter(op->result(), info);
  hero.joined.push_back(op);
  return true;
}

void VerticalFuser::dropLast(Hero &hero) {
  Op *op = hero.joined.pop_back_val();
  hero.refused.insert(op);
  plan.leave(hero.id, op);
  hero.places.forget(op);
}

// Are all that read `value` pointwise ops of no kernel yet that follow from it
// and constants alone, as the steps of an activation do?
bool VerticalFuser::isReadByItsOwn(const Value *value) const {
  llvm::SetVector<const Value *> own;
  own.insert(value);
  auto follows = [&](const Value *operand) {
    return !operand || own.contains(operand) ||
           (operand->definingOp() &&
            operand->definingOp()->kind() == OpKind::Constant);
  };
  auto joins = [&](const Op *op) {
    return op->hasTrait(OpTrait::Pointwise) && !plan.clusterOf(op) &&
           llvm::all_of(op->operands(), follows);
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < own.size() && own.size() < 64; i++)
      for (const Use &use : own[i]->uses())
        if (joins(use.op))
          again |= own.insert(use.op->result());
  }
  return llvm::all_of(value->uses(), [&](const Use &use) {
    return use.op->numResults() == 1 && own.contains(use.op->result());
  });
}

// Is `value`, which widens a result of the hero, stored wide? Contractions and
// windows have the first choice: most take it into their prologue.
bool VerticalFuser::isWidenedHere(const Hero &hero, const Value *value) const {
  if (isReadByHero(value) &&
      (!prologuesGrown || !plan.isReadOutside(value, hero.id)))
    return false;
  return value->uses().size() <= 1 || isReadByItsOwn(value);
}

bool VerticalFuser::joinEpilogue(Hero &hero, Value *value, Op *user) {
  if ((!user->hasTrait(OpTrait::View) && !user->hasTrait(OpTrait::Pointwise)) ||
      plan.clusterOf(user))
    return false;
  if (isFreeToRepeat(*user) && !value->hasOneUse()) {
    refusals.add(user, "its operand is stored for others anyway: who reads it "
                       "computes it");
    return false;
  }
  if (user->kind() == OpKind::Convert && isFreeToRepeat(*user) &&
      !isWidenedHere(hero, user->result())) {
    refusals.add(user, "who reads it widens it, which moves fewer bytes");
    return false;
  }
  std::string why;
  std::optional<FusionPlaces::Info> info = hero.places.afterOf(*user, why);
  if (!info) {
    refusals.add(user, why);
    return false;
  }
  return join(hero, user, false, *info);
}

bool VerticalFuser::growEpilogue(Hero &hero) {
  size_t before = hero.joined.size();
  for (bool again = true; again;) {
    again = false;
    for (Op *op : plan.sorted(hero.id)) {
      Value *value = op->result();
      llvm::SmallVector<Use, 4> uses(value->uses());
      for (const Use &use : uses)
        again |= !plan.cluster(hero.id).holds(use.op) &&
                 joinEpilogue(hero, value, use.op);
    }
  }
  return hero.joined.size() > before;
}

// The op that computes `value`, if it may still join a fusion.
Op *VerticalFuser::looseProducer(const Value *value) const {
  Op *op = value->definingOp();
  return op && op->numResults() == 1 && !plan.clusterOf(op) ? op : nullptr;
}

// Where `op` would be computed before the hero. What is not free to repeat must
// be for this fusion only, and of no other kernel.
std::optional<FusionPlaces::Info>
VerticalFuser::placeBefore(Hero &hero, Op *op, bool free, bool only) {
  std::string why;
  std::optional<FusionPlaces::Info> info;
  if (!free && !only)
    why = "others read it too";
  else if (!free && followsReduction(*op))
    why = "it follows a reduction, which computes it for free";
  else
    info = hero.places.beforeOf(*op, why);
  if (!info)
    refusals.add(op, why);
  return info;
}

// What the epilogue reads besides the hero: views are index arithmetic there,
// and a pointwise op that only this epilogue needs costs no kernel.
bool VerticalFuser::joinSide(Hero &hero, Value *value) {
  Op *op = looseProducer(value);
  if (!op)
    return false;
  bool view = isFreeToRepeat(*op);
  if (!view && !op->hasTrait(OpTrait::Pointwise))
    return false;
  bool only = !plan.isReadOutside(value, hero.id);
  std::optional<FusionPlaces::Info> info = placeBefore(hero, op, view, only);
  if (!info)
    return false;
  return join(hero, op, !only, *info);
}

// What an attention reads its operands through: views alone, so nothing is to
// join beside them. Nothing for other heroes.
llvm::DenseSet<const Op *> VerticalFuser::prologueOf(const Hero &hero) {
  llvm::DenseSet<const Op *> result;
  if (hero.op->kind() != OpKind::Attention)
    return result;
  llvm::SmallVector<const Op *, 8> pending{hero.op};
  while (!pending.empty())
    for (const Value *operand : pending.pop_back_val()->operands())
      if (const Op *op = operand ? operand->definingOp() : nullptr;
          op && plan.cluster(hero.id).holds(op) && result.insert(op).second)
        pending.push_back(op);
  return result;
}

bool VerticalFuser::growSides(Hero &hero) {
  size_t before = hero.joined.size();
  for (bool again = true; again;) {
    again = false;
    llvm::SetVector<Value *> values;
    llvm::DenseSet<const Op *> prologue = prologueOf(hero);
    for (Op *op : plan.sorted(hero.id))
      if (op != hero.op && !prologue.contains(op))
        for (Value *operand : op->operands())
          if (operand && !llvm::is_contained(hero.op->operands(), operand))
            values.insert(operand);
    for (Value *value : values)
      again |= !(value->definingOp() &&
                 plan.cluster(hero.id).holds(value->definingOp())) &&
               joinSide(hero, value);
  }
  return hero.joined.size() > before;
}

// Is the kernel with `op` in its prologue, already joined, cheaper than two?
bool VerticalFuser::paysAsPrologue(Hero &hero, Op *op, bool asCopy) {
  if (!context.costs || !context.target)
    return hero.op->kind() == OpKind::Attention;
  llvm::Expected<double> together = plan.price(hero.id, context);
  plan.leave(hero.id, op);
  llvm::Expected<double> apart = plan.price(hero.id, context);
  unsigned loop = plan.create(FusionKind::Loop, op);
  llvm::Expected<double> alone = plan.price(loop, context);
  plan.leave(loop, op);
  plan.cluster(loop).abandoned = true;
  plan.join(hero.id, op, asCopy);
  // A copy leaves the other kernel to others.
  bool pays = together && apart && alone &&
              (asCopy ? *together <= *apart : *together < *apart + *alone);
  if (!together)
    refusals.add(op, llvm::toString(together.takeError()));
  else if (!pays)
    refusals.add(op, "computing it once in a kernel of its own is cheaper");
  llvm::consumeError(apart.takeError());
  llvm::consumeError(alone.takeError());
  return pays;
}

bool VerticalFuser::joinPrologue(Hero &hero, Value *value) {
  Op *op = looseProducer(value);
  if (!op)
    return false;
  // A layout copy stands there because this hero wants to read that layout.
  if (auto copy = llvm::dyn_cast<LayoutCopyOp>(op);
      copy && !sameMemory(copy.input()->type(), copy.layout()))
    return false;
  bool view = op->hasTrait(OpTrait::View) && op->numOperands() == 1 &&
              op->kind() != OpKind::Pad;
  if (!view && !op->hasTrait(OpTrait::Pointwise))
    return false;
  bool only = !plan.isReadOutside(value, hero.id);
  // A matmul reads each element few times, from any place. A window reads it
  // once for each of its cells, and wants neighbours next to each other.
  const bool attention = hero.op->kind() == OpKind::Attention;
  bool free = view && (hero.op->kind() == OpKind::MatMul || attention ||
                       op->kind() == OpKind::Reshape);
  // It reads keys and values several times, for what they are computed from.
  if (attention && !view)
    return false;
  // What others widen too is stored narrow, for all of them.
  free |= !only && op->kind() == OpKind::Convert && isFreeToRepeat(*op);
  std::optional<FusionPlaces::Info> info = placeBefore(hero, op, free, only);
  if (!info)
    return false;
  info->place = Place::Free;
  if (!join(hero, op, !only, *info))
    return false;
  // Views may leave it narrower copies.
  if ((!free || attention) && !paysAsPrologue(hero, op, !only)) {
    dropLast(hero);
    return false;
  }
  return true;
}

bool VerticalFuser::growPrologue(Hero &hero) {
  size_t before = hero.joined.size();
  llvm::SetVector<Value *> pending(hero.op->operands().begin(),
                                   hero.op->operands().end());
  for (size_t i = 0; i < pending.size(); ++i) {
    Op *op = pending[i] ? pending[i]->definingOp() : nullptr; // absent
    if (!op ||
        (!plan.cluster(hero.id).holds(op) && !joinPrologue(hero, pending[i])))
      continue;
    for (Value *operand : op->operands())
      if (operand)
        pending.insert(operand);
  }
  return hero.joined.size() > before;
}

// The pool over a convolution's result, where a kernel computes both, and
// cheaper than two.
void VerticalFuser::growPools() {
  if (!context.costs || !context.target)
    return;
  for (Hero &conv : heroes) {
    llvm::SmallVector<Value *, 4> yields = plan.yields(conv.id);
    if (conv.op->kind() != OpKind::Conv || yields.size() != 1 ||
        yields[0]->isOutput() || !yields[0]->hasOneUse())
      continue;
    Op *op = yields[0]->uses().begin()->op;
    auto pool = llvm::find_if(heroes, [&](const Hero &h) {
      return h.op == op && h.joined.empty() && op->kind() == OpKind::Pool;
    });
    if (pool == heroes.end())
      continue;
    llvm::Expected<double> apart = plan.price(conv.id, context),
                           alone = plan.price(pool->id, context);
    plan.leave(pool->id, op);
    plan.join(conv.id, op, false);
    plan.cluster(conv.id).heroes.push_back(op);
    llvm::Expected<double> together = plan.price(conv.id, context);
    if (together && apart && alone && *together < *apart + *alone) {
      plan.cluster(pool->id).abandoned = true;
      conv.joined.push_back(op);
      conv.closed = pool->closed = true;
    } else {
      plan.cluster(conv.id).heroes.pop_back();
      plan.leave(conv.id, op);
      plan.join(pool->id, op, false);
    }
    for (llvm::Expected<double> *price : {&together, &apart, &alone})
      if (!*price)
        llvm::consumeError(price->takeError());
  }
}

void VerticalFuser::settle(Hero &hero) {
  for (;;) {
    std::string why = plan.whyNoKernel(hero.id, context);
    if (why.empty())
      return;
    if (hero.joined.empty()) {
      refusals.add(hero.op, why);
      return;
    }
    refusals.add(hero.joined.back(), why);
    dropLast(hero);
  }
}

void VerticalFuser::growAll() {
  for (bool again = true; again;) {
    again = false;
    for (Hero &hero : heroes)
      if (!hero.closed && (growSides(hero) | growEpilogue(hero))) {
        settle(hero);
        again = true;
      }
    for (Hero &hero : heroes)
      if (!hero.closed && growPrologue(hero)) {
        settle(hero);
        again = true;
      }
  }
}

bool VerticalFuser::run(Rewriter &rewriter) {
  // The last first: of two contractions whose results meet, the later one adds,
  // and reads the earlier one's result.
  std::vector<Op *> ops(plan.ops().begin(), plan.ops().end());
  for (Op *op : llvm::reverse(ops)) {
    std::optional<FusionKind> kind = heroKind(*op);
    if (!kind || *kind == FusionKind::Reduction)
      continue;
    unsigned id = plan.create(*kind, op);
    plan.cluster(id).heroes.push_back(op);
    FusionPlaces places(op->result()->type().shape);
    places.enter(op->result(), {Place::Full, nullptr, true});
    heroes.push_back(Hero{id, op, std::move(places), {}, {}, false});
    growEpilogue(heroes.back());
    settle(heroes.back());
  }
  // Only now: what is no epilogue of another contraction is free to join. What
  // one copies, or stops reading, may become another's alone.
  growAll();
  growPools();
  // What no reader's kernel takes need not be a kernel of its own.
  prologuesGrown = true;
  growAll();
  for (Hero &hero : heroes)
    if (hero.joined.empty())
      plan.cluster(hero.id).abandoned = true;
  refusals.report(plan, context);
  return plan.materialize(rewriter);
}

} // namespace dlc
