// SPDX-License-Identifier: Apache-2.0
// Looks names up, and carries outer values into regions.
#include "compiler/onnx/Scope.h"

using namespace dlc;

Scope::Lookup Scope::lookup(llvm::StringRef name) {
  auto known = values.find(name);
  if (known != values.end())
    return {true, known->second};
  if (initializers.count(name))
    return {true, values[name] = read(name)};
  if (!parent || isolated)
    return {};
  Lookup outer = parent->lookup(name);
  if (!outer.value || !captures)
    return outer;
  return {true, values[name] = bringIn(outer.value)};
}

bool Scope::defineInitializer(const onnx::TensorProto &tensor) {
  return !values.count(tensor.name()) &&
         initializers.try_emplace(tensor.name(), Initializer{&tensor, nullptr})
             .second;
}

bool Scope::defineInitializer(const onnx::SparseTensorProto &tensor) {
  const std::string &name = tensor.values().name();
  return !values.count(name) &&
         initializers.try_emplace(name, Initializer{nullptr, &tensor}).second;
}

Value *Scope::read(llvm::StringRef name) {
  Initializer source = initializers[name];
  llvm::Expected<Constant> constant =
      source.dense ? context.tensors.read(*source.dense)
                   : context.tensors.read(*source.sparse);
  if (!constant) {
    context.diagnostics.error("initializer \"" + name +
                              "\": " + llvm::toString(constant.takeError()));
    return nullptr;
  }
  Location saved = builder.location;
  builder.location = Location();
  Value *value = builder.constant(std::move(*constant));
  builder.location = saved;
  return value;
}

void Scope::addMissingInputs() {
  Graph &graph = builder.currentGraph();
  while (graph.numInputs() < firstCapture + captures->size())
    graph.addInput((*captures)[graph.numInputs() - firstCapture]->type());
}

Value *Scope::bringIn(Value *outer) {
  if (!captures)
    return outer;
  if (context.sequences.count(outer)) {
    context.diagnostics.error("a branch or loop uses a sequence from outside, "
                              "supported are tensors");
    return nullptr;
  }
  if (std::optional<Constant> known = context.known.constant(outer))
    return builder.constant(std::move(*known));
  if (outer->type().element == DataType::I64 && outer->type().rank() <= 1)
    if (std::optional<std::vector<Dim>> dims = context.known.dims(outer))
      return builder.create<DimsOp>(*dims, outer->type().rank() == 0).result();
  addMissingInputs();
  auto position = llvm::find(*captures, outer);
  if (position == captures->end()) {
    captures->push_back(outer);
    addMissingInputs();
    position = std::prev(captures->end());
  }
  return builder.currentGraph().input(firstCapture +
                                      unsigned(position - captures->begin()));
}
