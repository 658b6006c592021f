// SPDX-License-Identifier: Apache-2.0
// Walks the nodes of a graph and calls their importers.
#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/NodeBuilder.h"
#include "compiler/onnx/NodeOrder.h"
#include "compiler/onnx/Operators.h"

using namespace dlc;

static constexpr unsigned kDeepest = 64; // graphs in graphs
static constexpr int64_t kMostNodes = 1000000;

static void defineResults(const onnx::NodeProto &node, Scope &scope,
                          llvm::ArrayRef<Value *> results) {
  for (int i = 0; i < node.output_size(); ++i)
    if (!node.output(i).empty() &&
        !scope.define(node.output(i), size_t(i) < results.size()
                                          ? results[size_t(i)]
                                          : nullptr))
      scope.context.diagnostics.error(nodeLocation(node),
                                      "the name \"" + node.output(i) +
                                          "\" is defined twice");
}

/// A value that is known becomes a constant or dims, so that shape subgraphs
/// need no op, whatever they are made of.
static Value *resolve(Value *value, Scope &scope) {
  if (scope.context.sequences.count(value))
    return value;
  const TensorType &type = value->type();
  Op *op = value->definingOp();
  bool integral = isInteger(type.element) || type.element == DataType::Bool;
  if (!op || !integral || !type.isStatic() || op->kind() == OpKind::Constant ||
      op->kind() == OpKind::Dims)
    return value;
  std::optional<int64_t> count = type.elementCount().tryConstant();
  if (!count || *count > 4096)
    return value;
  if (std::optional<Constant> known = scope.context.known.constant(value))
    return scope.builder.constant(std::move(*known));
  if (type.rank() > 1 ||
      (type.element != DataType::I64 && type.element != DataType::I32))
    return value;
  std::optional<std::vector<Dim>> dims = scope.context.known.dims(value);
  if (!dims)
    return value;
  Value *known = scope.builder.create<DimsOp>(*dims, type.rank() == 0).result();
  if (type.element == DataType::I64)
    return known;
  return scope.builder.create<CastOp>(known, type.element).result();
}

/// A node of a model-local function: its nodes, imported in its place.
static void importFunction(const onnx::FunctionProto &function,
                           const onnx::NodeProto &node, Scope &scope) {
  Scope inner(scope, /*isolated=*/true);
  Diagnostics &diagnostics = scope.context.diagnostics;
  if (inner.depth > kDeepest) {
    diagnostics.error(nodeLocation(node),
                      "functions call each other deeper than " +
                          llvm::Twine(kDeepest));
    return defineResults(node, scope, {});
  }
  for (int i = 0; i < function.input_size(); ++i) {
    Value *value = nullptr;
    if (i < node.input_size() && !node.input(i).empty()) {
      Scope::Lookup found = scope.lookup(node.input(i));
      if (!found.found)
        diagnostics.error(nodeLocation(node), "nothing produces its input \"" +
                                                  node.input(i) + "\"");
      value = found.value;
      inner.define(function.input(i), value);
    }
  }
  // Attributes of the node take the place of references in the body.
  onnx::GraphProto body;
  for (const onnx::NodeProto &member : function.node()) {
    onnx::NodeProto &copy = *body.add_node();
    copy = member;
    copy.clear_attribute();
    for (const onnx::AttributeProto &attribute : member.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *copy.add_attribute() = attribute;
        continue;
      }
      auto named = [&](const onnx::AttributeProto &a) {
        return a.name() == attribute.ref_attr_name();
      };
      const onnx::AttributeProto *given = nullptr;
      for (const onnx::AttributeProto &a : function.attribute_proto())
        given = named(a) ? &a : given;
      for (const onnx::AttributeProto &a : node.attribute())
        given = named(a) ? &a : given;
      if (!given)
        continue; // absent: the operator's own default holds
      onnx::AttributeProto &filled = *copy.add_attribute();
      filled = *given;
      filled.set_name(attribute.name());
    }
  }
  for (const std::string &output : function.output())
    body.add_output()->set_name(output);
  // The body counts in the function's own opsets.
  llvm::StringMap<int64_t> saved = scope.context.opsets;
  for (const onnx::OperatorSetIdProto &opset : function.opset_import())
    scope.context.opsets[opset.domain() == "ai.onnx" ? "" : opset.domain()] =
        opset.version();
  llvm::SmallVector<Value *, 4> results = importGraph(body, inner);
  scope.context.opsets = std::move(saved);
  defineResults(node, scope, results);
}

void dlc::importNode(const onnx::NodeProto &node, Scope &scope) {
  ImportContext &context = scope.context;
  Location location = nodeLocation(node);
  if (++context.importedNodes > kMostNodes) {
    if (context.importedNodes == kMostNodes + 1)
      context.diagnostics.error(
          location, "written out, its functions and loops have more than " +
                        llvm::Twine(kMostNodes) + " nodes");
    return defineResults(node, scope, {});
  }
  llvm::StringRef domain = node.domain();
  if (domain == "ai.onnx")
    domain = "";
  auto function = context.functions.find(
      (domain + ":" + node.op_type() + ":" + node.overload()).str());
  if (function != context.functions.end())
    return importFunction(*function->second, node, scope);

  auto opset = context.opsets.find(domain);
  int64_t version = opset == context.opsets.end() ? 0 : opset->second;
  if (!version)
    context.diagnostics.error(location,
                              "its domain \"" + domain +
                                  "\" has no version: the model's opset_import "
                                  "does not list it");
  llvm::Expected<const Operator *> found =
      findOperator(domain, node.op_type(), version);
  if (!version) {
    llvm::consumeError(found.takeError());
    return defineResults(node, scope, {});
  }
  if (!found) {
    context.diagnostics.error(location, llvm::toString(found.takeError()));
    return defineResults(node, scope, {});
  }
  const Operator &entry = **found;

  llvm::SmallVector<Value *, 4> inputs;
  bool missing = false;
  for (const std::string &name : node.input()) {
    inputs.push_back(nullptr);
    if (name.empty())
      continue;
    Scope::Lookup input = scope.lookup(name);
    if (!input.found)
      context.diagnostics.error(location,
                                "nothing produces its input \"" + name + "\"");
    missing |= !input.value;
    inputs.back() = input.value;
  }
  for (unsigned i = 0; i < inputs.size() && !missing; ++i)
    if (inputs[i] && context.sequences.count(inputs[i]) &&
        !entry.takesSequences()) {
      context.diagnostics.error(location,
                                "input " + llvm::Twine(i) +
                                    " is a sequence, expected a tensor");
      missing = true;
    }
  if (missing) // reported where it failed
    return defineResults(node, scope, {});
  while (!inputs.empty() && !inputs.back())
    inputs.pop_back();

  NodeReader reader(context, scope, node, version, inputs, location);
  scope.builder.location = location;
  NodeBuilder builder(reader, scope.builder);
  if (inputs.size() > entry.mostInputs)
    reader.error("has " + llvm::Twine(inputs.size()) + " inputs, expected " +
                 (entry.fewestInputs == entry.mostInputs ? "" : "at most ") +
                 llvm::Twine(entry.mostInputs) + " at opset " +
                 llvm::Twine(version));
  // Of inputs that may be any number, none may be left out.
  bool variadic = entry.mostInputs == ~0u && entry.fewestInputs > 0;
  unsigned required =
      variadic ? std::max<unsigned>(unsigned(inputs.size()), entry.fewestInputs)
               : entry.fewestInputs;
  for (unsigned i = 0; i < required && !reader.failed(); ++i)
    if (!reader.hasInput(i))
      reader.error("input " + llvm::Twine(i) + " is missing" +
                   (variadic
                        ? ""
                        : (entry.fewestInputs == entry.mostInputs
                               ? ", expected "
                               : ", expected at least ") +
                              std::to_string(entry.fewestInputs) +
                              " inputs at opset " + std::to_string(version)));
  if (!reader.failed())
    entry.import(reader, builder);
  if (!reader.failed())
    reader.checkAllRead();
  llvm::SmallVector<Value *, 4> results(reader.results());
  for (unsigned i = 0; i < results.size(); ++i) {
    if (!reader.failed() && reader.wantsResult(i) && !results[i])
      reader.error("output " + llvm::Twine(i) + " (\"" + node.output(int(i)) +
                   "\") is not supported");
    if (reader.failed())
      results[i] = nullptr;
    else if (results[i])
      results[i] = resolve(results[i], scope);
  }
  defineResults(node, scope, results);
}

llvm::SmallVector<Value *, 4> dlc::importGraph(const onnx::GraphProto &graph,
                                               Scope &scope) {
  Diagnostics &diagnostics = scope.context.diagnostics;
  llvm::SmallVector<Value *, 4> outputs(size_t(graph.output_size()), nullptr);
  if (scope.depth > kDeepest) {
    diagnostics.error("graphs are nested deeper than " + llvm::Twine(kDeepest));
    return outputs;
  }
  auto isFed = [&](llvm::StringRef name) {
    return scope.depth == 0 && scope.isDefined(name) &&
           llvm::any_of(graph.input(), [&](const onnx::ValueInfoProto &input) {
             return input.name() == name;
           });
  };
  for (const onnx::TensorProto &tensor : graph.initializer())
    if (!isFed(tensor.name()) && !scope.defineInitializer(tensor))
      diagnostics.error("initializer \"" + tensor.name() +
                        "\" is defined twice");
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    if (!isFed(tensor.values().name()) && !scope.defineInitializer(tensor))
      diagnostics.error("initializer \"" + tensor.values().name() +
                        "\" is defined twice");
  std::optional<std::vector<int>> order = nodeOrder(graph, diagnostics);
  if (!order)
    return outputs;
  for (int i : *order)
    importNode(graph.node(i), scope);
  for (int i = 0; i < graph.output_size(); ++i) {
    Scope::Lookup found = scope.lookup(graph.output(i).name());
    if (!found.found)
      diagnostics.error("nothing produces the output \"" +
                        graph.output(i).name() + "\"");
    outputs[size_t(i)] = found.value;
  }
  return outputs;
}
