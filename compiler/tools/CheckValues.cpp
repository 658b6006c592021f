// SPDX-License-Identifier: Apache-2.0
// Do two modules compute the same, on random inputs?
#include "compiler/tools/CheckValues.h"

#include "compiler/Compare.h"
#include "ir/reference/Evaluator.h"

#include "llvm/ADT/STLExtras.h"
#include <random>

namespace dlc {

using reference::Tensor;

static reference::SymbolValues chooseSymbols(const Module &module) {
  reference::SymbolValues values;
  int64_t next = 2;
  for (const auto &[name, symbol] : module.symbols) {
    int64_t value = std::max(symbol.lower, next++);
    value = (value + symbol.divisor - 1) / symbol.divisor * symbol.divisor;
    values[name] = symbol.upper ? std::min(value, *symbol.upper) : value;
  }
  return values;
}

static Tensor randomTensor(const TensorType &type,
                           const reference::SymbolValues &symbols,
                           std::mt19937_64 &random) {
  std::vector<int64_t> shape;
  for (const Dim &dim : type.shape)
    shape.push_back(
        dim.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
             auto it = symbols.find(name.str());
             return it == symbols.end() ? std::nullopt
                                        : std::optional(it->second);
           })
            .value_or(1));
  Tensor tensor(type.element, shape);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (isFloat(type.element))
      tensor.setFloat(i, normal(random));
    else if (type.element == DataType::Bool)
      tensor.setInt(i, int64_t(random() & 1));
    else
      tensor.setInt(i, int64_t(random() % 5));
  }
  return tensor;
}

static std::vector<double> values(const Tensor &tensor) {
  std::vector<double> result;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    result.push_back(isFloat(tensor.element()) ? tensor.floatAt(i)
                                               : double(tensor.intAt(i)));
  return result;
}

llvm::Error checkValues(const Module &before, const Module &after,
                        llvm::StringRef precision, uint64_t seed) {
  std::mt19937_64 random(seed);
  reference::SymbolValues symbols = chooseSymbols(before);
  std::vector<Tensor> inputs;
  const Graph &graph = before.main();
  for (unsigned i = 0; i < graph.numInputs(); ++i)
    inputs.push_back(randomTensor(graph.input(i)->type(), symbols, random));

  bool lowered = precision != "fp32";
  llvm::Expected<std::vector<Tensor>> expected = reference::evaluate(
      graph, inputs,
      lowered ? reference::Precision::Double : reference::Precision::AsTyped);
  if (!expected)
    return expected.takeError();
  llvm::Expected<std::vector<Tensor>> found =
      reference::evaluate(after.main(), inputs, reference::Precision::AsTyped);
  if (!found)
    return found.takeError();
  if (expected->size() != found->size())
    return llvm::createStringError("%zu outputs have become %zu",
                                   expected->size(), found->size());
  for (auto [i, wanted] : llvm::enumerate(*expected)) {
    const Tensor &got = (*found)[i];
    std::string name = i < graph.outputNames.size()
                           ? graph.outputNames[i]
                           : "output " + std::to_string(i);
    if (got.shape() != wanted.shape())
      return llvm::createStringError("%s has another shape", name.c_str());
    Comparison result =
        compare(values(got), values(wanted), modelTolerance(precision));
    if (!result.same)
      return llvm::createStringError("%s differs: %s", name.c_str(),
                                     result.str().c_str());
  }
  return llvm::Error::success();
}

} // namespace dlc
