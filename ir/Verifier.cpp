// SPDX-License-Identifier: Apache-2.0
// What must hold of a module after every pass.
#include "ir/FusionBody.h"
#include "ir/infer/Helpers.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace dlc {

namespace {

/// One element type and shape, as far as can be proved. Layouts are free: a
/// pass chooses them.
bool sameLogicalType(const TensorType &a, const TensorType &b) {
  if (a.element != b.element || a.rank() != b.rank())
    return false;
  for (int64_t d = 0; d != a.rank(); ++d)
    if (provedEqual(a.dim(d), b.dim(d)) == Proof::Refuted)
      return false;
  return true;
}

llvm::Error typeMismatch(const Op &op, const llvm::Twine &what,
                         const TensorType &found, const TensorType &expected) {
  return opError(op, what + " has type " + found.str() + ", expected " +
                         expected.str());
}

/// The region's inputs are `first` and then the operands from `skip` on.
llvm::Error checkRegionInputs(const Op &op, unsigned region,
                              llvm::ArrayRef<TensorType> first, unsigned skip) {
  const Graph &graph = op.region(region);
  llvm::StringRef name = opInfo(op.kind()).regions[region];
  llvm::SmallVector<TensorType, 4> expected(first.begin(), first.end());
  for (Value *v : op.operands().drop_front(skip))
    expected.push_back(v->type());
  if (graph.numInputs() != expected.size())
    return opError(op, name + " has " + llvm::Twine(graph.numInputs()) +
                           " inputs, expected " + llvm::Twine(expected.size()));
  for (unsigned i = 0; i != expected.size(); ++i)
    if (!sameLogicalType(graph.input(i)->type(), expected[i]))
      return typeMismatch(op, "input " + llvm::Twine(i) + " of " + name,
                          graph.input(i)->type(), expected[i]);
  return llvm::Error::success();
}

llvm::Error verifyLoop(LoopOp loop) {
  const Op &op = *loop.op();
  TensorType trip(DataType::I64, {}), condition(DataType::Bool, {});
  int64_t carried = loop.carried(), inputs = int64_t(loop.inputs().size());
  if (carried < 0 || carried > inputs)
    return opError(op, "carried is " + llvm::Twine(carried) + " of " +
                           llvm::Twine(inputs) + " inputs");
  if (llvm::Error e = checkRegionInputs(op, 0, {trip, condition}, 2))
    return e;
  llvm::ArrayRef<Value *> outputs = loop.body().outputs();
  if (int64_t(outputs.size()) != 1 + int64_t(op.numResults()) ||
      int64_t(op.numResults()) < carried)
    return opError(op, "the body yields " + llvm::Twine(outputs.size()) +
                           " values for " + llvm::Twine(op.numResults()) +
                           " results, expected the condition and one each");
  if (!sameLogicalType(outputs[0]->type(), condition))
    return typeMismatch(op, "the condition", outputs[0]->type(), condition);
  for (unsigned i = 0; i != op.numResults(); ++i) {
    const TensorType &result = op.result(i)->type();
    TensorType expected = outputs[i + 1]->type();
    if (i >= carried) // a scan output stacks its slices
      expected.shape.insert(expected.shape.begin(),
                            result.rank() ? result.dim(0) : Dim(0));
    if (result.element != expected.element || result.rank() != expected.rank())
      return typeMismatch(op, "result " + llvm::Twine(i), result, expected);
  }
  return llvm::Error::success();
}

llvm::Error verifyRegions(const Op &op) {
  Op *mutableOp = const_cast<Op *>(&op);
  switch (op.kind()) {
  case OpKind::If:
    for (unsigned i : {0, 1})
      if (llvm::Error e = checkRegionInputs(op, i, {}, 1))
        return e;
    return llvm::Error::success();
  case OpKind::Loop:
    return verifyLoop(LoopOp(mutableOp));
  case OpKind::Fusion:
    return verifyFusion(FusionOp(mutableOp));
  default:
    return llvm::Error::success();
  }
}

/// Walks the graphs of a module.
class ModuleVerifier {
public:
  explicit ModuleVerifier(const Module &module) : module(module) {}

  llvm::Error run() {
    if (llvm::Error e = checkSymbols())
      return e;
    if (llvm::Error e = checkConstraints())
      return e;
    return checkGraph(module.main());
  }

private:
  llvm::Error checkSymbols() {
    for (const auto &[name, symbol] : module.symbols) {
      if (symbol.divisor < 1 || (symbol.upper && *symbol.upper < symbol.lower))
        return llvm::createStringError("symbol \"" + name +
                                       "\": its range is empty");
      llvm::Error bad = llvm::Error::success();
      if (symbol.bound)
        symbol.bound->forEachSymbol([&](llvm::StringRef used) {
          auto it = module.symbols.find(used.str());
          if (bad || (it != module.symbols.end() && !it->second.bound))
            return;
          bad = llvm::createStringError(
              "symbol \"" + name + "\": its bound uses \"" + used +
              "\", which is not declared or has a bound itself");
        });
      if (bad)
        return bad;
    }
    return llvm::Error::success();
  }

  llvm::Error checkConstraints() {
    llvm::Error bad = llvm::Error::success();
    for (const Constraint &c : module.constraints)
      for (const Dim &d : {c.left, c.right})
        d.forEachSymbol([&](llvm::StringRef name) {
          if (!bad && !module.symbols.count(name))
            bad = llvm::createStringError("a constraint uses symbol \"" + name +
                                          "\", which is not declared");
        });
    return bad;
  }

  llvm::Error checkType(const llvm::Twine &what, const TensorType &type) {
    llvm::Error bad = llvm::Error::success();
    for (const Dim &d : type.shape)
      d.forEachSymbol([&](llvm::StringRef name) {
        if (!bad && !module.symbols.count(name))
          bad = llvm::createStringError(what + " has type " + type.str() +
                                        ", but symbol \"" + name +
                                        "\" is not declared");
      });
    return bad;
  }

  llvm::Error checkGraph(const Graph &graph) {
    llvm::DenseSet<const Value *> defined;
    size_t uses = 0, operands = 0;
    auto define = [&](const Value *v) {
      defined.insert(v);
      uses += v->uses().size();
    };
    for (unsigned i = 0; i != graph.numInputs(); ++i) {
      define(graph.input(i));
      if (llvm::Error e =
              checkType("input " + llvm::Twine(i), graph.input(i)->type()))
        return e;
    }
    for (const Op &op : graph.ops()) {
      if (op.parent() != &graph)
        return opError(op, "is listed in a graph that is not its own");
      for (unsigned i = 0; i != op.numOperands(); ++i) {
        Value *v = op.operand(i);
        operands += v != nullptr;
        if (v && !defined.contains(v))
          return at(op, opError(op, "operand " + llvm::Twine(i) +
                                        " is not defined before it in this "
                                        "graph"));
      }
      if (llvm::Error e = verifyOp(op))
        return at(op, std::move(e));
      for (unsigned i = 0; i != op.numResults(); ++i) {
        define(op.result(i));
        if (llvm::Error e =
                checkType("result " + llvm::Twine(i) + " of " + op.mnemonic(),
                          op.result(i)->type()))
          return at(op, std::move(e));
      }
      for (unsigned i = 0; i != op.numRegions(); ++i)
        if (llvm::Error e = checkGraph(op.region(i)))
          return e;
    }
    if (uses != operands)
      return llvm::createStringError("the use lists of graph @" + graph.name +
                                     " hold " + llvm::Twine(uses) +
                                     " uses, its ops " + llvm::Twine(operands));
    for (Value *v : graph.outputs())
      if (!v || !defined.contains(v))
        return llvm::createStringError("an output of graph @" + graph.name +
                                       " is not defined in it");
    if (!graph.outputNames.empty() &&
        graph.outputNames.size() != graph.outputs().size())
      return llvm::createStringError(
          "graph @" + graph.name + " has " +
          llvm::Twine(graph.outputNames.size()) + " names for " +
          llvm::Twine(graph.outputs().size()) + " outputs");
    return llvm::Error::success();
  }

  static llvm::Error at(const Op &op, llvm::Error e) {
    std::string where = op.location().str();
    if (where.empty())
      return e;
    return llvm::createStringError(where + ": " + llvm::toString(std::move(e)));
  }

  const Module &module;
};

} // namespace

llvm::Error verifyOp(const Op &op) {
  if (llvm::Error e = verifyRules(op))
    return e;
  InferResult types = inferTypes(op);
  if (!types)
    return types.takeError();
  if (types->size() != op.numResults())
    return opError(op, llvm::Twine(op.numResults()) + " results, expected " +
                           llvm::Twine(types->size()));
  for (unsigned i = 0; i != op.numResults(); ++i)
    if (!sameLogicalType(op.result(i)->type(), (*types)[i]))
      return typeMismatch(op, "result " + llvm::Twine(i), op.result(i)->type(),
                          (*types)[i]);
  if (op.numRegions() != opInfo(op.kind()).regions.size())
    return opError(op, llvm::Twine(op.numRegions()) + " regions, expected " +
                           llvm::Twine(opInfo(op.kind()).regions.size()));
  return verifyRegions(op);
}

llvm::Error verify(const Module &module) {
  return ModuleVerifier(module).run();
}

} // namespace dlc
