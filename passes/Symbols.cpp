// SPDX-License-Identifier: Apache-2.0
// Replaces symbols of a module by what has become known of them.
#include "passes/Symbols.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

void DimSubstitution::learn(llvm::StringRef symbol, Dim value) {
  bool refersToItself = false;
  value.forEachSymbol(
      [&](llvm::StringRef name) { refersToItself |= name == symbol; });
  if (!refersToItself)
    known.emplace(symbol.str(), std::move(value));
}

void DimSubstitution::learn(llvm::ArrayRef<Dim> declared,
                            llvm::ArrayRef<Dim> actual) {
  if (declared.size() != actual.size())
    return;
  for (auto [d, a] : llvm::zip(declared, actual))
    if (d.kind() == Dim::Kind::Symbol && d != a)
      learn(d.symbolName(), a);
}

Dim DimSubstitution::apply(const Dim &dim) const {
  return dim.substitute([&](llvm::StringRef name) -> std::optional<Dim> {
    auto it = known.find(name);
    return it == known.end() ? std::nullopt : std::optional<Dim>(it->second);
  });
}

static TensorType applied(TensorType type, const DimSubstitution &by) {
  for (Dim &dim : type.shape)
    dim = by.apply(dim);
  return type;
}

static void substituteIn(Graph &graph, const DimSubstitution &by) {
  for (unsigned i = 0; i < graph.numInputs(); ++i)
    graph.input(i)->setType(applied(graph.input(i)->type(), by));
  for (Op &op : graph) {
    for (unsigned i = 0; i < op.numAttributes(); ++i) {
      const auto *dims = std::get_if<std::vector<Dim>>(&op.attribute(i));
      if (!dims)
        continue;
      std::vector<Dim> with;
      for (const Dim &dim : *dims)
        with.push_back(by.apply(dim));
      op.setAttribute(i, std::move(with));
    }
    for (unsigned i = 0; i < op.numRegions(); ++i)
      substituteIn(op.region(i), by);
    for (unsigned i = 0; i < op.numResults(); ++i)
      op.result(i)->setType(applied(op.result(i)->type(), by));
    llvm::Expected<llvm::SmallVector<TensorType, 1>> types = inferTypes(op);
    if (!types) {
      // The verifier says it, with the op's place.
      llvm::consumeError(types.takeError());
      continue;
    }
    if (types->size() != op.numResults())
      continue;
    for (auto [i, type] : llvm::enumerate(*types))
      op.result(unsigned(i))->setType(type);
  }
}

void substitute(Module &module, const DimSubstitution &substitution) {
  if (substitution.empty())
    return;
  substituteIn(module.main(), substitution);
  ConstraintList before = std::move(module.constraints);
  module.constraints.clear();
  for (const Constraint &c : before)
    assume(module.constraints, module.symbols, substitution.apply(c.left),
           c.relation, substitution.apply(c.right), c.sentence);
}

} // namespace dlc
