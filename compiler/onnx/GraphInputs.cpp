// SPDX-License-Identifier: Apache-2.0
// Declared shapes, --shape and --bind become types and symbols.
#include "compiler/onnx/GraphInputs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace dlc;

/// Symbols are quoted in text: without what would end the quotes.
static std::string symbolText(llvm::StringRef name) {
  std::string text = name.str();
  for (char &c : text)
    if (c == '"' || c == '\\' || !llvm::isPrint(c))
      c = '_';
  return text;
}

std::string ImportContext::freshSymbol(llvm::StringRef hint) {
  std::string base = symbolText(hint), name = base;
  for (unsigned i = 1; module.symbols.count(name); ++i)
    name = base + "_" + std::to_string(i);
  Symbol &symbol = module.symbols[name];
  symbol.name = name;
  symbol.lower = 1;
  return name;
}

std::string ImportContext::countSymbol(llvm::StringRef hint, const Dim &most,
                                       int64_t least) {
  std::string name = freshSymbol(hint);
  Symbol &symbol = module.symbols.find(name)->second;
  symbol.home = SymbolHome::DeviceCell;
  symbol.lower = least;
  // `most` may itself be counted.
  symbol.bound = hostBound(most, module.symbols);
  symbol.upper = upperBound(most, module.symbols);
  return name;
}

namespace {

/// What the model declares of one dimension.
struct Declared {
  std::optional<int64_t> size;
  std::string symbol; ///< empty: it has no name
};

class InputTypes {
public:
  InputTypes(const onnx::GraphProto &graph, const ImportOptions &options,
             Scope &scope)
      : graph(graph), options(options), scope(scope), context(scope.context) {}

  void run();

private:
  std::optional<std::vector<Declared>>
  declared(const onnx::ValueInfoProto &input);
  void learnSymbols(const onnx::ValueInfoProto &input);
  void rename(llvm::StringRef symbol, const Dim &to, llvm::StringRef input);
  void narrow(Symbol &symbol, const DimSpec &spec, llvm::StringRef input);
  Symbol &symbolNamed(llvm::StringRef name);
  Dim dimension(const Declared &found, const DimSpec *spec,
                const std::string &input, size_t position);
  std::optional<TensorType> typeOf(const onnx::ValueInfoProto &input);
  Value *bind(const onnx::ValueInfoProto &input, llvm::StringRef text);
  void error(const onnx::ValueInfoProto &input, const llvm::Twine &message) {
    context.diagnostics.error("input \"" + input.name() + "\": " + message);
  }

  const onnx::GraphProto &graph;
  const ImportOptions &options;
  Scope &scope;
  ImportContext &context;
  std::map<std::string, Dim, std::less<>> renamed; ///< symbols of the model
};

} // namespace

std::optional<std::vector<Declared>>
InputTypes::declared(const onnx::ValueInfoProto &input) {
  if (!input.type().tensor_type().has_shape())
    return std::nullopt;
  std::vector<Declared> dims;
  for (const auto &dim : input.type().tensor_type().shape().dim()) {
    Declared d;
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      d.size = dim.dim_value();
    // Exporters write these where they know nothing, also for sizes that
    // differ.
    else if (dim.has_dim_param() && dim.dim_param() != "?" &&
             dim.dim_param() != "-1" && dim.dim_param() != "None" &&
             !dim.dim_param().empty())
      d.symbol = symbolText(dim.dim_param());
    dims.push_back(d);
  }
  return dims;
}

Symbol &InputTypes::symbolNamed(llvm::StringRef name) {
  auto [place, isNew] = context.module.symbols.try_emplace(name.str());
  if (isNew) {
    place->second.name = name.str();
    place->second.lower = 1;
  }
  return place->second;
}

void InputTypes::rename(llvm::StringRef symbol, const Dim &to,
                        llvm::StringRef input) {
  auto [place, isNew] = renamed.try_emplace(symbol.str(), to);
  if (!isNew && place->second != to)
    context.diagnostics.error(
        "--shape " + input + ": the model's dimension \"" + symbol + "\" is " +
        to.str() + " here and " + place->second.str() + " elsewhere");
}

void InputTypes::narrow(Symbol &symbol, const DimSpec &spec,
                        llvm::StringRef input) {
  bool fresh = symbol.lower == 1 && !symbol.upper;
  symbol.lower = fresh ? spec.lower : std::max(symbol.lower, spec.lower);
  if (spec.upper)
    symbol.upper =
        symbol.upper ? std::min(*symbol.upper, *spec.upper) : *spec.upper;
  if (symbol.upper && *symbol.upper < symbol.lower)
    context.diagnostics.error("--shape " + input + ": no size is left for \"" +
                              symbol.name + "\": " + llvm::Twine(symbol.lower) +
                              ".." + llvm::Twine(*symbol.upper));
}

/// What --shape says about the symbols that the model names.
void InputTypes::learnSymbols(const onnx::ValueInfoProto &input) {
  auto given = options.shapes.find(input.name());
  std::optional<std::vector<Declared>> dims = declared(input);
  if (given == options.shapes.end() || !dims)
    return;
  if (dims->size() != given->second.size()) {
    error(input, "has " + llvm::Twine(dims->size()) +
                     " dimensions in the model, --shape gives " +
                     llvm::Twine(given->second.size()));
    return;
  }
  for (size_t i = 0; i < dims->size(); ++i) {
    const Declared &d = (*dims)[i];
    const DimSpec &spec = given->second[i];
    if (d.symbol.empty())
      continue;
    if (spec.isFixed())
      rename(d.symbol, Dim(spec.lower), input.name());
    else if (!spec.symbol.empty())
      rename(d.symbol, Dim::symbol(symbolText(spec.symbol)), input.name());
    else
      narrow(symbolNamed(d.symbol), spec, input.name());
  }
}

Dim InputTypes::dimension(const Declared &found, const DimSpec *spec,
                          const std::string &input, size_t position) {
  if (!found.symbol.empty()) {
    auto known = renamed.find(found.symbol);
    Dim dim =
        known == renamed.end() ? Dim::symbol(found.symbol) : known->second;
    if (dim.kind() == Dim::Kind::Symbol)
      symbolNamed(dim.symbolName());
    return dim;
  }
  if (spec && spec->isFixed())
    return Dim(spec->lower);
  if (spec && !spec->symbol.empty()) {
    std::string name = symbolText(spec->symbol);
    symbolNamed(name);
    return Dim::symbol(name);
  }
  if (found.size && !spec)
    return Dim(*found.size);
  std::string name =
      context.freshSymbol(input + "_" + std::to_string(position));
  if (spec)
    narrow(context.module.symbols.find(name)->second, *spec, input);
  return Dim::symbol(name);
}

std::optional<TensorType>
InputTypes::typeOf(const onnx::ValueInfoProto &input) {
  const onnx::TypeProto &type = input.type();
  if (!type.has_tensor_type()) {
    error(input, type.value_case() == onnx::TypeProto::VALUE_NOT_SET
                     ? "has no type in the model, expected a tensor"
                     : "is a sequence, map, optional or sparse tensor, "
                       "supported are tensors");
    return std::nullopt;
  }
  std::optional<DataType> element =
      elementTypeOf(type.tensor_type().elem_type());
  if (!element) {
    error(input, unsupportedType(type.tensor_type().elem_type()));
    return std::nullopt;
  }
  auto given = options.shapes.find(input.name());
  const std::vector<DimSpec> *specs =
      given == options.shapes.end() ? nullptr : &given->second;
  std::optional<std::vector<Declared>> dims = declared(input);
  if (!dims && !specs) {
    error(input, "has no shape in the model, not even a rank: say it with "
                 "--shape " +
                     input.name() + "=1x3x224x224");
    return std::nullopt;
  }
  if (!dims)
    dims.emplace(specs->size());
  if (specs && specs->size() != dims->size())
    return std::nullopt; // reported by learnSymbols
  TensorType result(*element, {});
  for (size_t i = 0; i < dims->size(); ++i)
    result.shape.push_back(
        dimension((*dims)[i], specs ? &(*specs)[i] : nullptr, input.name(), i));
  Dim count = result.elementCount();
  if (count.overflowed() ||
      (count.isConstant() && count.constant() > INT64_MAX / 8)) {
    error(input, "its dimensions overflow: " + result.str());
    return std::nullopt;
  }
  return result;
}

Value *InputTypes::bind(const onnx::ValueInfoProto &input,
                        llvm::StringRef text) {
  std::optional<TensorType> type = typeOf(input);
  if (!type)
    return nullptr;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  text.split(parts, ',');
  // A dimension that only the number of values can tell.
  if (type->rank() == 1 && !type->isStatic())
    type->shape[0] = int64_t(parts.size());
  std::optional<int64_t> count = type->elementCount().tryConstant();
  if (!type->isStatic() || !count) {
    error(input, "cannot be bound while its shape " + type->str() +
                     " is not fixed: say it with --shape");
    return nullptr;
  }
  if (parts.size() != 1 && int64_t(parts.size()) != *count) {
    error(input, "--bind gives " + llvm::Twine(parts.size()) + " values, " +
                     type->str() + " needs 1 or " + llvm::Twine(*count));
    return nullptr;
  }
  if (*count > (1 << 20)) {
    error(input, "is too large to be bound: " + type->str());
    return nullptr;
  }
  std::vector<double> reals;
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < *count; ++i) {
    llvm::StringRef part = parts[parts.size() == 1 ? 0 : size_t(i)].trim();
    double real = 0;
    int64_t integer = 0;
    bool bad =
        isFloat(type->element) ? part.getAsDouble(real)
        : type->element == DataType::Bool
            ? !(part == "0" || part == "1" || part == "true" || part == "false")
            : part.getAsInteger(10, integer);
    if (type->element == DataType::Bool)
      integer = part == "1" || part == "true";
    if (bad) {
      error(input, "--bind gives \"" + part + "\", expected a value of type " +
                       stringify(type->element));
      return nullptr;
    }
    reals.push_back(real);
    integers.push_back(integer);
  }
  return scope.builder.constant(isFloat(type->element)
                                    ? Constant::fromFloats(*type, reals)
                                    : Constant::fromInts(*type, integers));
}

void InputTypes::run() {
  llvm::StringSet<> initializers, names;
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    initializers.insert(tensor.values().name());
  // An input with an initialiser is a weight in old files, and one that need
  // not be fed in new ones: a constant unless --keep-input or --bind names it.
  std::vector<const onnx::ValueInfoProto *> inputs;
  llvm::StringSet<> constants;
  std::string list;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (initializers.contains(input.name()) &&
        !options.kept.count(input.name()) &&
        !options.bindings.count(input.name())) {
      constants.insert(input.name());
      continue;
    }
    inputs.push_back(&input);
    list += (list.empty() ? "" : ", ") + input.name();
    if (!names.insert(input.name()).second)
      error(input, "is listed twice");
  }
  auto checkName = [&](llvm::StringRef flag, llvm::StringRef name) {
    if (constants.contains(name))
      context.diagnostics.error(flag + " " + name +
                                ": the model has a value for this input: "
                                "--keep-input " +
                                name + " makes it one that is fed");
    else if (!names.contains(name))
      context.diagnostics.error(
          flag + " " + name + ": the model has no such input; its inputs are " +
          (list.empty() ? "none" : list));
  };
  for (const auto &[name, value] : options.bindings)
    checkName("--bind", name);
  for (const auto &[name, value] : options.shapes)
    checkName("--shape", name);
  for (const std::string &name : options.kept)
    checkName("--keep-input", name);
  for (const onnx::ValueInfoProto *input : inputs)
    learnSymbols(*input);
  for (const onnx::ValueInfoProto *input : inputs) {
    auto bound = options.bindings.find(input->name());
    if (bound != options.bindings.end()) {
      scope.define(input->name(), bind(*input, bound->second));
      continue;
    }
    std::optional<TensorType> type = typeOf(*input);
    scope.define(input->name(),
                 type ? context.module.main().addInput(*type, input->name())
                      : nullptr);
  }
}

void dlc::importInputs(const onnx::GraphProto &graph,
                       const ImportOptions &options, Scope &scope) {
  InputTypes(graph, options, scope).run();
}
