// SPDX-License-Identifier: Apache-2.0
// The parts and the grammar of a fusion.
#include "ir/FusionBody.h"

#include "ir/Check.h"
#include "ir/infer/Helpers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace dlc {

static llvm::SmallVector<Op *, 16> bodyOps(const Graph &body) {
  llvm::SmallVector<Op *, 16> ops;
  for (Op &op : const_cast<Graph &>(body).ops())
    ops.push_back(&op);
  return ops;
}

/// Ops that `values` depend on and that are not in `taken`, in body order.
static llvm::SmallVector<Op *, 4> producers(llvm::ArrayRef<Value *> values,
                                            llvm::ArrayRef<Op *> body,
                                            const llvm::DenseSet<Op *> &taken) {
  llvm::DenseSet<Op *> wanted;
  auto want = [&](Value *v) {
    if (v && v->definingOp() && !taken.contains(v->definingOp()))
      wanted.insert(v->definingOp());
  };
  llvm::for_each(values, want);
  llvm::SmallVector<Op *, 4> result;
  for (Op *op : llvm::reverse(body)) {
    if (!wanted.contains(op))
      continue;
    result.push_back(op);
    llvm::for_each(op->operands(), want);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

FusionParts fusionParts(const Graph &graph, llvm::ArrayRef<Op *> heroes) {
  llvm::SmallVector<Op *, 16> body = bodyOps(graph);
  llvm::SmallVector<Op *, 4> needed = producers(graph.outputs(), body, {});
  llvm::DenseSet<Op *> live(needed.begin(), needed.end()), taken;
  FusionParts parts;
  parts.heroes.assign(heroes.begin(), heroes.end());
  for (Op *hero : heroes) {
    auto &prologue = parts.prologues.emplace_back();
    for (Value *operand : hero->operands())
      prologue.push_back(producers(operand, body, taken));
    for (auto &ops : prologue)
      taken.insert(ops.begin(), ops.end());
    taken.insert(hero);
  }
  for (Op *op : body) {
    if (!live.contains(op))
      parts.unused.push_back(op);
    else if (!taken.contains(op))
      parts.epilogue.push_back(op);
  }
  return parts;
}

FusionParts fusionParts(const FusionOp &fusion) {
  llvm::SmallVector<Op *, 16> body = bodyOps(fusion.body());
  llvm::SmallVector<Op *, 2> heroes;
  for (int64_t position : fusion.heroes())
    heroes.push_back(body[position]);
  return fusionParts(fusion.body(), heroes);
}

std::string FusionParts::str() const {
  std::string text;
  auto add = [&](const llvm::Twine &part, llvm::ArrayRef<Op *> ops) {
    std::string list;
    for (const Op *op : ops)
      if (op->numOperands())
        list += ((list.empty() ? "" : ", ") + op->mnemonic()).str();
    if (!list.empty())
      text +=
          (llvm::Twine(text.empty() ? "" : "; ") + part + ": " + list).str();
  };
  if (heroes.empty())
    return text;
  for (size_t i = 0; i != heroes.size(); ++i)
    for (size_t j = 0; j != prologues[i].size(); ++j)
      add("prologue of operand " + llvm::Twine(j) +
              (heroes.size() > 1 ? " of hero " + std::to_string(i) : ""),
          prologues[i][j]);
  add("epilogue", epilogue);
  return text;
}

//===--- Iteration spaces -------------------------------------------------===//

static IterationSpace reductionSpace(const Op &hero) {
  const TensorType &in = hero.operand(0)->type();
  llvm::SmallVector<int64_t, 4> axes;
  if (auto reduce = llvm::dyn_cast<ReduceOp>(&hero))
    axes.append(reduce.axes().begin(), reduce.axes().end());
  else if (auto arg = llvm::dyn_cast<ArgReduceOp>(&hero))
    axes.push_back(arg.axis());
  IterationSpace result;
  for (int64_t d = 0; d != in.rank(); ++d)
    (llvm::is_contained(axes, d) ? result.reduce : result.space)
        .push_back(in.dim(d));
  return result;
}

static IterationSpace contractionSpace(const Op &hero) {
  IterationSpace result{hero.result()->type().shape, {}};
  if (auto matmul = llvm::dyn_cast<MatMulOp>(&hero)) {
    result.reduce.push_back(
        matmul.lhs()->type().dim(matmul.transposeLhs() ? -2 : -1));
    return result;
  }
  // Filters: [M, C/groups, kernel] or, transposed, [C, M/groups, kernel].
  llvm::ArrayRef<Dim> filter = hero.operand(1)->type().shape;
  if (auto conv = llvm::dyn_cast<ConvTransposeOp>(&hero))
    result.reduce.push_back(floorDiv(filter[0], conv.groups()));
  else
    result.reduce.push_back(filter[1]);
  result.reduce.append(filter.begin() + 2, filter.end());
  return result;
}

IterationSpace iterationSpace(FusionKind kind, llvm::ArrayRef<Op *> heroes,
                              llvm::ArrayRef<Value *> yields) {
  switch (kind) {
  case FusionKind::Loop:
    return {yields.empty() ? Shape() : yields[0]->type().shape, {}};
  case FusionKind::Reduction:
    return reductionSpace(*heroes[0]);
  case FusionKind::Contraction:
    return contractionSpace(*heroes[0]);
  case FusionKind::Window: {
    const auto &window = llvm::cast<PoolOp>(heroes[0]).window();
    return {heroes[0]->result()->type().shape,
            Shape(window.begin(), window.end())};
  }
  case FusionKind::Attention:
    return {heroes[0]->result()->type().shape,
            {llvm::cast<AttentionOp>(heroes[0]).k()->type().dim(-2)}};
  case FusionKind::Recurrence:
    return {heroes[0]->result()->type().shape,
            {Dim(llvm::cast<LstmOp>(heroes[0]).hidden())}};
  case FusionKind::Group:
    break;
  }
  return {};
}

//===--- Grammar ----------------------------------------------------------===//

static bool isReduction(const Op &op) {
  return op.kind() == OpKind::Reduce || op.kind() == OpKind::ArgReduce;
}

bool isContraction(const Op &op) {
  return op.kind() == OpKind::MatMul || op.kind() == OpKind::Conv ||
         op.kind() == OpKind::ConvTranspose;
}

unsigned tf32AttrOf(const Op &contraction) {
  switch (contraction.kind()) {
  case OpKind::MatMul:
    return MatMulOp::tf32Attr;
  case OpKind::Conv:
    return ConvOp::tf32Attr;
  default:
    DLC_CHECK(contraction.kind() == OpKind::ConvTranspose);
    return ConvTransposeOp::tf32Attr;
  }
}

std::optional<FusionKind> heroKind(const Op &op) {
  if (isContraction(op))
    return FusionKind::Contraction;
  if (op.kind() == OpKind::Reduce)
    return FusionKind::Reduction;
  if (op.kind() == OpKind::Pool)
    return FusionKind::Window;
  if (op.kind() == OpKind::Attention)
    return FusionKind::Attention;
  return std::nullopt;
}

static bool mayBeHero(FusionKind kind, const Op &op) {
  switch (kind) {
  case FusionKind::Loop:
  case FusionKind::Group:
    return false;
  case FusionKind::Reduction:
    return isReduction(op);
  case FusionKind::Contraction:
    return isContraction(op) || op.kind() == OpKind::Pool;
  case FusionKind::Window:
    return op.kind() == OpKind::Pool;
  case FusionKind::Attention:
    return op.kind() == OpKind::Attention;
  case FusionKind::Recurrence:
    return op.kind() == OpKind::Lstm;
  }
  return false;
}

ConcatOp soleConcat(const FusionOp &fusion) {
  Graph &body = fusion.body();
  if (fusion.kind() != FusionKind::Loop || body.outputs().size() != 1)
    return {};
  auto concat = body.outputs()[0]->definingOp<ConcatOp>();
  for (const Op &op : body)
    if (&op != concat.op() && op.kind() != OpKind::Slice)
      return {};
  return concat;
}

bool isElementwise(const Op &op) {
  switch (op.kind()) {
  case OpKind::Constant:
  case OpKind::Dims:
  case OpKind::Iota:
  case OpKind::Gather:
  case OpKind::GatherElements:
  case OpKind::GatherNd:
    return true;
  default:
    return op.hasTrait(OpTrait::Pointwise) || op.hasTrait(OpTrait::View);
  }
}

/// A contraction, or a convolution and the pool over what becomes of it.
static llvm::Error verifyPooled(const FusionOp &fusion,
                                llvm::ArrayRef<Op *> body) {
  const Op &op = *fusion.op();
  llvm::ArrayRef<int64_t> heroes = fusion.heroes();
  if (!isContraction(*body[heroes[0]]))
    return opError(op, "kind contraction begins with a contraction, found " +
                           body[heroes[0]]->mnemonic());
  if (heroes.size() == 1)
    return llvm::Error::success();
  if (heroes.size() > 2 || body[heroes[1]]->kind() != OpKind::Pool ||
      body[heroes[0]]->kind() != OpKind::Conv)
    return opError(op,
                   "kind contraction has one hero, or conv and pool, found " +
                       llvm::Twine(heroes.size()));
  return llvm::Error::success();
}

static llvm::Error verifyHeroes(const FusionOp &fusion,
                                llvm::ArrayRef<Op *> body) {
  const Op &op = *fusion.op();
  llvm::StringRef kind = stringify(fusion.kind());
  int64_t previous = -1;
  for (int64_t position : fusion.heroes()) {
    if (position <= previous || position >= int64_t(body.size()))
      return opError(op, "heroes must be rising positions in a body of " +
                             llvm::Twine(body.size()) + " ops, found " +
                             llvm::Twine(position));
    previous = position;
    if (!mayBeHero(fusion.kind(), *body[position]))
      return opError(op, body[position]->mnemonic() +
                             " cannot be the hero of kind " + kind);
  }
  bool needsHero =
      fusion.kind() != FusionKind::Loop && fusion.kind() != FusionKind::Group;
  if (needsHero && fusion.heroes().empty())
    return opError(op, "kind " + kind + " needs a hero");
  if (fusion.kind() == FusionKind::Contraction)
    return verifyPooled(fusion, body);
  bool severalHeroes = fusion.kind() == FusionKind::Reduction;
  if (!severalHeroes && fusion.heroes().size() > 1)
    return opError(op, "kind " + kind + " has one hero, found " +
                           llvm::Twine(fusion.heroes().size()));
  return llvm::Error::success();
}

/// Each op stands in a part that may hold it.
static llvm::Error verifyParts(const FusionOp &fusion,
                               const FusionParts &parts) {
  const Op &op = *fusion.op();
  bool isGroup = fusion.kind() == FusionKind::Group;
  auto check = [&](llvm::ArrayRef<Op *> ops,
                   const llvm::Twine &part) -> llvm::Error {
    for (Op *inner : ops) {
      auto nested = llvm::dyn_cast<FusionOp>(inner);
      bool fits = isGroup ? nested && nested.kind() != FusionKind::Group
                          : isElementwise(*inner);
      if (fits)
        continue;
      return opError(
          op,
          "kind " + stringify(fusion.kind()) + " cannot hold " +
              inner->mnemonic() + part +
              (inner->hasTrait(OpTrait::Hero) ? " unless it is a hero" : ""));
    }
    return llvm::Error::success();
  };
  for (size_t i = 0; i != parts.prologues.size(); ++i)
    for (size_t j = 0; j != parts.prologues[i].size(); ++j)
      if (llvm::Error e =
              check(parts.prologues[i][j], " in the prologue of operand " +
                                               llvm::Twine(j) + " of " +
                                               parts.heroes[i]->mnemonic()))
        return e;
  if (llvm::Error e =
          check(parts.epilogue, parts.heroes.empty() ? "" : " in the epilogue"))
    return e;
  if (!parts.unused.empty())
    return opError(op, parts.unused[0]->mnemonic() +
                           " is in no part: no result needs it");
  return llvm::Error::success();
}

static llvm::Error verifySpace(const FusionOp &fusion,
                               llvm::ArrayRef<Op *> heroes) {
  IterationSpace expected =
      iterationSpace(fusion.kind(), heroes, fusion.body().outputs());
  auto check = [&](llvm::StringRef name, llvm::ArrayRef<Dim> found,
                   llvm::ArrayRef<Dim> wanted) -> llvm::Error {
    bool same = found.size() == wanted.size();
    for (size_t i = 0; same && i != found.size(); ++i)
      same = provedEqual(found[i], wanted[i]) != Proof::Refuted;
    if (same)
      return llvm::Error::success();
    return opError(*fusion.op(), name + " must be " + shapeText(wanted) +
                                     ", found " + shapeText(found));
  };
  if (llvm::Error e = check("space", fusion.space(), expected.space))
    return e;
  return check("reduce", fusion.reduce(), expected.reduce);
}

llvm::Error verifyFusion(const FusionOp &fusion) {
  const Op &op = *fusion.op();
  const Graph &body = fusion.body();
  if (body.numInputs() != fusion.inputs().size())
    return opError(op, "the body has " + llvm::Twine(body.numInputs()) +
                           " inputs for " +
                           llvm::Twine(fusion.inputs().size()) + " operands");
  for (unsigned i = 0; i != body.numInputs(); ++i)
    if (body.input(i)->type() != fusion.inputs()[i]->type())
      return opError(op, "input " + llvm::Twine(i) + " of the body has type " +
                             body.input(i)->type().str() + ", the operand " +
                             fusion.inputs()[i]->type().str());
  if (body.outputs().empty())
    return opError(op, "the body yields nothing");
  for (unsigned i = 0; i != op.numResults(); ++i)
    if (body.outputs()[i]->type() != op.result(i)->type())
      return opError(op, "result " + llvm::Twine(i) + " has type " +
                             op.result(i)->type().str() + ", the body yields " +
                             body.outputs()[i]->type().str());
  if (llvm::Error e = verifyHeroes(fusion, bodyOps(body)))
    return e;
  const FusionParts parts = fusionParts(fusion);
  if (llvm::Error e = verifyParts(fusion, parts))
    return e;
  return verifySpace(fusion, parts.heroes);
}

} // namespace dlc
