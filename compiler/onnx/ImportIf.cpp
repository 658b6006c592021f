// SPDX-License-Identifier: Apache-2.0
// If: the branch that is known to be taken, else both as regions.
#include "compiler/onnx/Assume.h"
#include "compiler/onnx/ControlParts.h"
#include "compiler/onnx/Operators.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace dlc;

namespace dlc {

/// Imports the branch that is taken in place of the node.
static void inPlace(NodeReader &n, const onnx::GraphProto &branch) {
  Scope scope(n.scope);
  llvm::SmallVector<Value *, 4> values = importGraph(branch, scope);
  if (!complete(values))
    return n.failSilently();
  for (unsigned i = 0; i < values.size(); ++i)
    n.result(i, values[i]);
}

/// Which branch is taken where the condition compares sizes for equality: the
/// one for equal sizes, which becomes a constraint. This is how exporters write
/// a squeeze of a dimension that they do not know to be 1.
static std::optional<bool> assumeCondition(NodeReader &n, Value *condition) {
  // A constraint holds for all runs, also for those that take another branch.
  if (n.scope.isConditional())
    return std::nullopt;
  bool taken = true;
  for (Op *op = condition->definingOp(); op;
       op = op->operand(0)->definingOp()) {
    if (op->kind() == OpKind::Not) {
      taken = !taken;
    } else if (op->kind() == OpKind::Equal) {
      std::optional<std::vector<Dim>> a = n.context.known.dims(op->operand(0)),
                                      b = n.context.known.dims(op->operand(1));
      if (!a || !b || a->size() != 1 || b->size() != 1)
        return std::nullopt;
      const Dim &left = a->front(), &right = b->front();
      assume(n, left, Relation::Equal, right,
             "sizes for which its branches are of one rank");
      n.context.diagnostics.note(
          n.location(), "its branches give tensors of different rank: " +
                            left.str() + " == " + right.str() +
                            " is taken for granted, and other sizes are "
                            "refused when it runs; --shape decides otherwise");
      return taken;
    } else if (op->kind() != OpKind::Reshape &&
               !(op->kind() == OpKind::Cast &&
                 op->operand(0)->type().element == DataType::Bool)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// How a user can decide a branch at compile time: by the shapes of the inputs
/// that the condition looks at, if it is one of sizes.
static std::string whatDecides(NodeReader &n, Value *condition) {
  llvm::StringSet<> symbols;
  llvm::SmallVector<Value *, 16> stack{condition};
  llvm::DenseSet<Value *> seen;
  while (!stack.empty()) {
    Value *v = stack.pop_back_val();
    Op *op = v && seen.insert(v).second ? v->definingOp() : nullptr;
    if (!op)
      continue;
    if (auto dims = llvm::dyn_cast<DimsOp>(op))
      for (const Dim &d : dims.values())
        d.forEachSymbol([&](llvm::StringRef s) { symbols.insert(s); });
    stack.append(op->operands().begin(), op->operands().end());
  }
  std::string inputs;
  const Graph &graph = n.context.module.main();
  for (unsigned i = 0; i < graph.numInputs(); ++i) {
    bool has = false;
    for (const Dim &d : graph.input(i)->type().shape)
      d.forEachSymbol([&](llvm::StringRef s) { has |= symbols.contains(s); });
    if (has)
      inputs +=
          (inputs.empty() ? "\"" : " and \"") + graph.input(i)->name + "\"";
  }
  if (!inputs.empty())
    return "; fixed sizes of input " + inputs +
           ", with --shape, decide which one is taken";
  return "; which one is taken is not known at compile time: " +
         n.context.known.whyUnknown(condition);
}

namespace {

/// Results of branches whose sizes differ: within the branches they are padded
/// to the larger size, and what is too much is cut off afterwards.
struct OpenSizes {
  struct Size {
    unsigned result; ///< whose size it is
    int64_t axis;
    int64_t least;
    Dim most;
  };
  llvm::SmallVector<Size, 2> sizes;

  bool add(NodeReader &n, unsigned result, const TensorType &yes,
           const TensorType &no);
  void pad(NodeReader &n, Graph &branch,
           llvm::SmallVectorImpl<Value *> &values) const;
  Value *cut(NodeReader &n, NodeBuilder &b, Value *padded, const Size &size,
             Value *count) const;
};

} // namespace

/// False: one of the sizes has no bound.
bool OpenSizes::add(NodeReader &n, unsigned result, const TensorType &yes,
                    const TensorType &no) {
  const SymbolTable &symbols = n.context.module.symbols;
  for (int64_t axis = 0; axis < yes.rank(); ++axis) {
    if (yes.dim(axis) == no.dim(axis))
      continue;
    std::optional<Dim> a = hostBound(yes.dim(axis), symbols),
                       c = hostBound(no.dim(axis), symbols);
    if (!a || !c)
      return false;
    auto least = [&](const Dim &d) {
      return std::max<int64_t>(lowerBound(d, symbols).value_or(0), 0);
    };
    sizes.push_back({result, axis,
                     std::min(least(yes.dim(axis)), least(no.dim(axis))),
                     simplify(max(*a, *c), symbols)});
  }
  return true;
}

void OpenSizes::pad(NodeReader &n, Graph &branch,
                    llvm::SmallVectorImpl<Value *> &values) const {
  Builder inner(branch);
  inner.location = n.location();
  NodeBuilder b(n, inner);
  llvm::SmallVector<Value *, 4> counts;
  for (const Size &size : sizes) {
    Value *&value = values[size.result];
    const Dim has = value->type().dim(size.axis);
    counts.push_back(
        inner.create<DimsOp>(llvm::ArrayRef<Dim>(has), true).result());
    std::vector<Dim> low(size_t(value->type().rank())), high = low;
    high[size_t(size.axis)] = size.most - has;
    if (has != size.most)
      value = b.emit<PadOp>(value, nullptr, low, high, PadMode::Constant);
    if (n.failed())
      return;
  }
  values.append(counts);
  branch.setOutputs(values);
}

/// The first `count` elements along the axis: as many as a kernel counts.
Value *OpenSizes::cut(NodeReader &n, NodeBuilder &b, Value *padded,
                      const Size &size, Value *count) const {
  std::string name = n.context.countSymbol(n.proto().output(int(size.result)) +
                                               "_" + std::to_string(size.axis),
                                           size.most, size.least);
  Value *taken = b.emit<LessOp>(
      b.emit<IotaOp>(llvm::ArrayRef<Dim>(size.most), 0, DataType::I64), count);
  Value *found = b.emit<NonZeroOp>(taken, name);
  return b.emit<GatherOp>(padded, b.reshape(found, {Dim::symbol(name)}),
                          size.axis);
}

void importIf(NodeReader &n, NodeBuilder &b) {
  const onnx::GraphProto *branches[2] = {graphAttribute(n, "then_branch"),
                                         graphAttribute(n, "else_branch")};
  Value *condition = n.input(0);
  if (n.failed())
    return;
  if (condition->type().element != DataType::Bool ||
      !condition->type().elementCount().isConstant(1))
    return n.error("condition is " + condition->type().str() +
                   ", expected a scalar of bool");
  for (const onnx::GraphProto *branch : branches)
    if (size_t(branch->output_size()) != n.results().size())
      return n.error("a branch has " + llvm::Twine(branch->output_size()) +
                     " outputs, the node has " +
                     llvm::Twine(n.results().size()));
  if (std::optional<Constant> known = n.context.known.constant(condition))
    return inPlace(n, *branches[known->intAt(0) ? 0 : 1]);
  Builder &builder = b.raw();
  Graph &graph = builder.currentGraph();
  Op *op = IfOp::make(n.location(), b.reshape(condition, {}), {});
  graph.insert(graph.end(), op);
  Captures captures;
  llvm::SmallVector<Value *, 4> values[2];
  for (unsigned i = 0; i < 2; ++i) {
    Builder inner(op->region(i));
    Scope scope(n.scope, inner, captures);
    values[i] = importGraph(*branches[i], scope);
    op->region(i).setOutputs(values[i]);
  }
  bool good = complete(values[0]) && complete(values[1]) &&
              areTensors(n, values[0]) && areTensors(n, values[1]);
  OpenSizes open;
  for (unsigned i = 0; good && i < values[0].size(); ++i) {
    const TensorType &yes = values[0][i]->type(), &no = values[1][i]->type();
    if (yes == no)
      continue;
    if (yes.element == no.element && yes.rank() != no.rank())
      if (std::optional<bool> taken = assumeCondition(n, condition)) {
        op->erase();
        return inPlace(n, *branches[*taken ? 0 : 1]);
      }
    if (yes.element == no.element && yes.rank() == no.rank() &&
        open.add(n, i, yes, no))
      continue;
    llvm::StringRef expected = yes.element != no.element ? "one element type"
                               : yes.rank() != no.rank() ? "one rank"
                                                         : "sizes with a bound";
    n.error("output " + llvm::Twine(i) + " is " + yes.str() +
            " in one branch and " + no.str() + " in the other, expected " +
            expected + whatDecides(n, condition));
    good = false;
  }
  size_t outputs = values[0].size();
  for (unsigned i = 0; good && i < 2; ++i) {
    open.pad(n, op->region(i), values[i]);
    good = !n.failed();
  }
  llvm::SmallVector<TensorType, 2> types;
  for (Value *value : values[0])
    types.push_back(good ? value->type() : TensorType());
  if (!good) {
    op->erase();
    return n.failSilently();
  }
  // Captures of the second branch are inputs of the first as well.
  for (unsigned i = 0; i < 2; ++i)
    while (op->region(i).numInputs() < captures.size())
      op->region(i).addInput(captures[op->region(i).numInputs()]->type());
  llvm::SmallVector<Value *, 8> operands{op->operand(0)};
  operands.append(captures.begin(), captures.end());
  op->setOperands(operands);
  if (!finishRegions(n, builder, op, types))
    return;
  llvm::SmallVector<Value *, 4> results;
  for (unsigned i = 0; i < outputs; ++i)
    results.push_back(op->result(i));
  for (auto [i, size] : llvm::enumerate(open.sizes))
    results[size.result] = open.cut(n, b, results[size.result], size,
                                    op->result(unsigned(outputs + i)));
  for (unsigned i = 0; i < outputs; ++i)
    n.result(i, results[i]);
}

} // namespace dlc
