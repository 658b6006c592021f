// SPDX-License-Identifier: Apache-2.0
// Runs graphs op by op: types of values, symbols, dispatch, lifetimes.
#include "ir/reference/Context.h"

#include "llvm/ADT/DenseMap.h"

namespace dlc::reference {

DataType Settings::stored(DataType t) const {
  if (!isFloat(t))
    return t;
  if (precision == Precision::Double)
    return DataType::F64;
  return wide ? computeType(t) : t;
}

DataType Settings::working(DataType t) const {
  if (t == DataType::I4)
    return DataType::I8;
  if (t == DataType::U4)
    return DataType::U8;
  if (!isFloat(t))
    return t;
  return precision == Precision::Double ? DataType::F64 : computeType(t);
}

Expected<int64_t> Context::value(const Dim &d) const {
  std::optional<int64_t> v =
      d.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
        auto found = symbols.find(name.str());
        if (found == symbols.end())
          return std::nullopt;
        return found->second;
      });
  if (!v)
    return error("the value of " + d.str() + " is not known");
  return *v;
}

Expected<std::vector<int64_t>> Context::values(llvm::ArrayRef<Dim> dims) const {
  std::vector<int64_t> result;
  for (const Dim &d : dims) {
    Expected<int64_t> v = value(d);
    if (!v)
      return v.takeError();
    result.push_back(*v);
  }
  return result;
}

Error Context::error(const llvm::Twine &text) const {
  std::string place = op.location().str();
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 place + (place.empty() ? "" : ": ") +
                                     op.mnemonic() + ": " + text);
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); i++)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

Expected<std::vector<int64_t>> broadcastShapes(const Context &c,
                                               llvm::ArrayRef<int64_t> a,
                                               llvm::ArrayRef<int64_t> b) {
  std::vector<int64_t> result(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= result.size(); i++) {
    int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1)
      return c.error("shapes " + shapeText(a) + " and " + shapeText(b) +
                     " do not broadcast");
    result[result.size() - i] = x == 1 ? y : x;
  }
  return result;
}

/// Contractions read f32 operands as f64 by themselves, block by block, since a
/// widened copy of all weights would not be small.
static bool widensByItself(OpKind kind) {
  return kind == OpKind::MatMul || kind == OpKind::Conv ||
         kind == OpKind::ConvTranspose;
}

static bool hasRegions(const Op &op) { return op.numRegions() > 0; }

static Expected<Tensors> dispatchOp(const Context &c) {
  if (c.op.hasTrait(OpTrait::Pointwise))
    return evaluatePointwise(c);
  switch (c.op.kind()) {
#define DLC_OP_EVALUATOR(Name)                                                 \
  case OpKind::Name:                                                           \
    return evaluate##Name(c);
#define DLC_OP_EVALUATORS
#include "ir/Ops.inc"
#undef DLC_OP_EVALUATOR
  default:
    break;
  }
  DLC_CHECK(false) << "no evaluator for " << c.op.mnemonic();
  __builtin_unreachable();
}

static Expected<Tensors> runOp(const Op &op,
                               llvm::ArrayRef<const Tensor *> inputs,
                               const Settings &settings,
                               const SymbolValues &symbols) {
  Tensors widened(inputs.size());
  llvm::SmallVector<const Tensor *, 4> operands(inputs.begin(), inputs.end());
  for (size_t i = 0; i < inputs.size(); i++) {
    // Regions convert at their own ops.
    if (!inputs[i] || hasRegions(op))
      continue;
    DataType from = inputs[i]->element(), to = settings.working(from);
    if (widensByItself(op.kind()) && from == DataType::F32)
      to = from;
    if (from == to)
      continue;
    widened[i] = inputs[i]->converted(to);
    operands[i] = &widened[i];
  }
  Context context(op, operands, settings, symbols);
  Expected<Tensors> results = dispatchOp(context);
  // Constants stay as they are stored until an op uses them.
  if (!results || op.kind() == OpKind::Constant)
    return results;
  DLC_CHECK(results->size() == op.numResults()) << op.mnemonic();
  for (unsigned i = 0; i < op.numResults(); i++)
    (*results)[i] =
        (*results)[i].converted(settings.stored(op.result(i)->type().element));
  return results;
}

/// Gives the symbols among `type`'s dimensions the values that `shape` shows,
/// and checks what is already known. Returns the first dimension that differs.
static std::optional<unsigned> bindShape(const TensorType &type,
                                         llvm::ArrayRef<int64_t> shape,
                                         SymbolValues &symbols) {
  for (size_t i = 0; i < shape.size(); i++)
    if (type.shape[i].kind() == Dim::Kind::Symbol)
      symbols.try_emplace(type.shape[i].symbolName().str(), shape[i]);
  for (size_t i = 0; i < shape.size(); i++) {
    std::optional<int64_t> expected = type.shape[i].evaluate(
        [&](llvm::StringRef name) -> std::optional<int64_t> {
          auto found = symbols.find(name.str());
          if (found == symbols.end())
            return std::nullopt;
          return found->second;
        });
    if (expected && *expected != shape[i])
      return unsigned(i);
  }
  return std::nullopt;
}

static Error bindInput(const Value &input, Tensor &tensor,
                       const Settings &settings, SymbolValues &symbols) {
  auto fail = [&](const llvm::Twine &text) {
    std::string name = input.name.empty() ? std::to_string(input.index())
                                          : "\"" + input.name + "\"";
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "input " + name + ": " + text);
  };
  const TensorType &type = input.type();
  DataType element = tensor.element();
  if (element != type.element && element != settings.stored(type.element))
    return fail("expected " + stringify(type.element) + ", got " +
                stringify(element));
  if (tensor.rank() != type.rank() ||
      bindShape(type, tensor.shape(), symbols).has_value())
    return fail("expected " + type.str() + ", got shape " +
                shapeText(tensor.shape()));
  tensor = tensor.converted(settings.stored(type.element));
  return Error::success();
}

Expected<Tensors> runGraph(const Graph &graph, Tensors inputs,
                           const Settings &settings, SymbolValues &symbols) {
  struct Slot {
    Tensor tensor;
    size_t uses; ///< still to come
  };
  llvm::DenseMap<const Value *, Slot> slots;
  auto usesOf = [&](const Value &v) {
    return v.uses().size() + llvm::count(graph.outputs(), &v);
  };
  if (inputs.size() != graph.numInputs())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "expected %u inputs, got %zu",
                                   graph.numInputs(), inputs.size());
  for (unsigned i = 0; i < graph.numInputs(); i++) {
    const Value &input = *graph.input(i);
    if (Error e = bindInput(input, inputs[i], settings, symbols))
      return e;
    if (size_t uses = usesOf(input))
      slots[&input] = {std::move(inputs[i]), uses};
  }
  inputs.clear();

  for (const Op &op : graph.ops()) {
    llvm::SmallVector<const Tensor *, 4> operands;
    for (const Value *v : op.operands())
      operands.push_back(v ? &slots.find(v)->second.tensor : nullptr);
    Expected<Tensors> results = runOp(op, operands, settings, symbols);
    if (!results)
      return results.takeError();
    for (const Value *v : op.operands())
      if (v && --slots.find(v)->second.uses == 0)
        slots.erase(v);
    for (unsigned i = 0; i < op.numResults(); i++) {
      const Value &result = *op.result(i);
      Tensor &tensor = (*results)[i];
      bool wrong = tensor.rank() != result.type().rank() ||
                   bindShape(result.type(), tensor.shape(), symbols);
      if (wrong)
        return Context(op, operands, settings, symbols)
            .error("result has shape " + shapeText(tensor.shape()) +
                   ", its type says " + result.type().str());
      if (size_t uses = usesOf(result))
        slots[&result] = {std::move(tensor), uses};
    }
  }

  Tensors outputs;
  for (const Value *v : graph.outputs())
    outputs.push_back(slots.find(v)->second.tensor.converted(
        settings.stored(v->type().element)));
  return outputs;
}

Expected<Tensors> evaluateOp(const Op &op,
                             llvm::ArrayRef<const Tensor *> inputs,
                             Precision precision, const SymbolValues &symbols) {
  Expected<Tensors> results = runOp(op, inputs, {precision}, symbols);
  if (results && op.kind() == OpKind::Constant)
    (*results)[0] = (*results)[0].converted(
        Settings{precision}.stored((*results)[0].element()));
  return results;
}

/// The constraints of a module, under the sizes that its inputs have.
static Error checkSizes(const Module &module, llvm::ArrayRef<Tensor> inputs) {
  const Graph &graph = module.main();
  SymbolValues symbols;
  for (unsigned i = 0; i < graph.numInputs() && i < inputs.size(); i++)
    if (inputs[i].rank() == graph.input(i)->type().rank())
      bindShape(graph.input(i)->type(), inputs[i].shape(), symbols);
  return checkConstraints(module.constraints,
                          [&](llvm::StringRef name) -> std::optional<int64_t> {
                            auto found = symbols.find(name.str());
                            if (found == symbols.end())
                              return std::nullopt;
                            return found->second;
                          });
}

Expected<Tensors> evaluate(const Graph &graph, Tensors inputs,
                           Precision precision) {
  if (const Module *module = graph.module();
      module && &module->main() == &graph)
    if (Error e = checkSizes(*module, inputs))
      return e;
  SymbolValues symbols;
  return runGraph(graph, std::move(inputs), {precision}, symbols);
}

bool isFoldable(const Op &op) {
  if (!op.hasTrait(OpTrait::Pure) || op.kind() == OpKind::Constant)
    return false;
  auto f64 = [](const Value *v) {
    return v && v->type().element == DataType::F64;
  };
  for (unsigned i = 0; i < op.numRegions(); i++)
    for (const Op &inner : op.region(i).ops())
      if (inner.kind() != OpKind::Constant && !isFoldable(inner))
        return false;
  if (op.hasTrait(OpTrait::Transcendental) || op.kind() == OpKind::Lstm ||
      op.kind() == OpKind::Attention)
    return !f64(op.result(0));
  return true;
}

} // namespace dlc::reference
