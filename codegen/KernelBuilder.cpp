// SPDX-License-Identifier: Apache-2.0
// Collects the parts of one kernel: parameters, functors, entry point.
#include "codegen/KernelBuilder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SHA256.h"
#include <cmath>

using namespace dlc;
using namespace dlc::codegen;

llvm::StringRef codegen::storageName(DataType type) {
  switch (type) {
  case DataType::F64:
    return "double";
  case DataType::F32:
    return "float";
  case DataType::F16:
    return "half_t";
  case DataType::BF16:
    return "bf16_t";
  case DataType::F8E4M3:
    return "f8e4m3_t";
  case DataType::F8E5M2:
    return "f8e5m2_t";
  case DataType::I64:
    return "int64_t";
  case DataType::I32:
    return "int32_t";
  case DataType::I16:
    return "int16_t";
  case DataType::I8:
    return "int8_t";
  case DataType::U64:
    return "uint64_t";
  case DataType::U32:
    return "uint32_t";
  case DataType::U16:
    return "uint16_t";
  case DataType::U8:
    return "uint8_t";
  case DataType::Bool:
    return "bool";
  default:
    return "";
  }
}

llvm::StringRef codegen::computeName(DataType type) {
  return storageName(computeType(type));
}

bool codegen::hasDeviceType(DataType type) {
  return isStored(type) && type != DataType::F8E4M3 && type != DataType::F8E5M2;
}

bool codegen::isStored(DataType type) { return !storageName(type).empty(); }

std::string codegen::literal(DataType type, double value) {
  if (type == DataType::Bool)
    return value != 0 ? "true" : "false";
  if (!isFloat(type)) {
    std::string text = std::to_string(int64_t(value));
    return computeName(type).str() + "(" + text + ")";
  }
  bool wide = computeType(type) == DataType::F64;
  if (std::isnan(value))
    return wide ? "double(NAN)" : "NAN";
  if (std::isinf(value)) {
    std::string text = value < 0 ? "-INFINITY" : "INFINITY";
    return wide ? "double(" + text + ")" : text;
  }
  char text[40];
  snprintf(text, sizeof text, wide ? "%.17g" : "%.9g", value);
  std::string s = text;
  // The shortest text that reads back as the same number.
  for (int digits = 1; digits < (wide ? 17 : 9); digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (wide ? strtod(text, nullptr) == value
             : strtof(text, nullptr) == float(value)) {
      s = text;
      break;
    }
  }
  if (s.find_first_of(".e") == std::string::npos)
    s += ".0";
  return wide ? s : s + "f";
}

std::string codegen::literal(DataType type, const Constant &constant,
                             int64_t i) {
  if (isFloat(type) || type == DataType::Bool)
    return literal(type, constant.floatAt(i));
  int64_t v = constant.intAt(i);
  std::string text = std::to_string(v);
  if (v == INT64_MIN)
    text = "-9223372036854775807 - 1";
  else if (type == DataType::U64 && v < 0)
    text = std::to_string(uint64_t(v)) + "u";
  return computeName(type).str() + "(" + text + ")";
}

KernelBuilder::KernelBuilder(const Unit &unit, const EmitContext &context)
    : theUnit(unit), theContext(context),
      printer(context.symbols,
              [this](llvm::StringRef s) { return parameter(s); }) {
  // Offsets and linear indices of all values, a tile beyond their ends. Where a
  // size has no bound the plan refuses shapes that do not fit.
  auto fits = [&](const TensorType &type) {
    Dim elements = type.layout.storageElements(type.shape);
    std::optional<int64_t> n = upperBound(elements, context.symbols);
    if (!n)
      launch.limited.push_back(elements);
    return !n || *n < kNarrowElements;
  };
  narrow = true;
  for (Value *v : unit.inputs())
    narrow &= !v || fits(v->type());
  for (unsigned i = 0; i < unit.numResults(); i++)
    narrow &= fits(unit.resultType(i));
  // What is never stored may be larger than all that is: an outer product that
  // is summed.
  for (const Op &op : unit.body().ops())
    for (unsigned i = 0; i < op.numResults(); i++)
      narrow &= fits(op.result(i)->type());
  include("fusion");
}

std::string KernelBuilder::parameter(llvm::StringRef symbol) {
  auto it = known.find(symbol);
  if (it != known.end())
    return it->second;
  auto entry = theContext.symbols.find(symbol);
  DLC_CHECK(entry != theContext.symbols.end())
      << "the symbol '" << symbol << "' is not declared";
  std::string text;
  if (entry->second.home == SymbolHome::DeviceCell) {
    text =
        "Index(ld_cell(p.cell[" + std::to_string(launch.cells.size()) + "]))";
    launch.cells.push_back(symbol.str());
  } else {
    text = "Index(p.symbol[" + std::to_string(launch.symbols.size()) + "])";
    launch.symbols.push_back(Dim::symbol(symbol));
  }
  return known[symbol.str()] = text;
}

void KernelBuilder::noteType(const BufferRef &ref, DataType element) {
  if ((ref.kind == BufferRef::Kind::Input ||
       ref.kind == BufferRef::Kind::Result) &&
      !llvm::is_contained(typeNames, stringify(element)))
    typeNames.push_back(stringify(element).str());
}

unsigned KernelBuilder::tensorMap(TensorMapRef map) {
  noteType(map.buffer, map.element);
  launch.maps.push_back(std::move(map));
  return launch.maps.size() - 1;
}

std::string KernelBuilder::buffer(BufferRef ref, llvm::StringRef name,
                                  DataType element, bool write,
                                  llvm::StringRef comment) {
  std::string call = (name + "(p)").str();
  auto [it, fresh] = known.try_emplace("%" + name.str(), call);
  if (!fresh)
    return call;
  noteType(ref, element);
  std::string constness = write ? "" : "const ";
  std::string type = constness + storageName(element).str() + " *";
  accessors += "DLC_DEVICE " + type + name.str() + "(const P &p) {";
  if (!comment.empty())
    accessors += " // " + comment.str();
  accessors += "\n  return static_cast<" + type + ">(p.buffer[" +
               std::to_string(launch.buffers.size()) + "]);\n}\n";
  launch.buffers.push_back(std::move(ref));
  return call;
}

std::string KernelBuilder::input(unsigned i) {
  const TensorType &type = theUnit.inputs()[i]->type();
  return buffer(BufferRef::input(i), "in" + std::to_string(i), type.element,
                false, type.str());
}

std::string KernelBuilder::operand(const Value *value) {
  if (value->inputOf())
    return input(value->index());
  return weight(llvm::cast<ConstantOp>(value->definingOp()).value());
}

std::string KernelBuilder::result(unsigned i) {
  const TensorType &type = theUnit.resultType(i);
  return buffer(BufferRef::result(i), "out" + std::to_string(i), type.element,
                true, type.str());
}

std::string KernelBuilder::workspace(unsigned i, DataType element) {
  return buffer(BufferRef::workspace(i), "work" + std::to_string(i), element,
                true, "workspace");
}

std::string KernelBuilder::weight(const Constant &constant) {
  // By content, so that the text does not depend on addresses.
  std::string key = std::to_string(constant.hash()) + constant.type().str();
  unsigned n = weights.try_emplace(key, weights.size()).first->second;
  return buffer(BufferRef::weight(constant), "weight" + std::to_string(n),
                constant.type().element, false, constant.type().str());
}

bool KernelBuilder::isWeight(unsigned input) const {
  const Op *op = theUnit.inputs()[input]->definingOp();
  return op && op->kind() == OpKind::Constant;
}

void KernelBuilder::include(llvm::StringRef header) {
  if (!llvm::is_contained(headers, header))
    headers.push_back(header.str());
}

std::string KernelBuilder::types() const { return llvm::join(typeNames, ""); }

void KernelBuilder::addConstant(llvm::StringRef type, llvm::StringRef name,
                                const llvm::Twine &value) {
  functors +=
      ("  static constexpr " + type + " " + name + " = " + value + ";\n").str();
}

void KernelBuilder::addSize(llvm::StringRef name, const Dim &size) {
  functors += ("  static DLC_DEVICE Index " + name + "(const P &p) { return " +
               printer.print(size) + "; }\n")
                  .str();
}

void KernelBuilder::addFunction(llvm::StringRef declaration,
                                const llvm::Twine &body) {
  functors +=
      ("  static DLC_DEVICE " + declaration + " {\n" + body + "  }\n").str();
}

void KernelBuilder::addLanesFunction(llvm::StringRef declaration,
                                     const llvm::Twine &body) {
  functors += "  template <int V>\n";
  addFunction(declaration, body);
}

Dim codegen::limitBlocks(const Dim &blocks) {
  return min(blocks, (int64_t(1) << 31) - 1);
}

/// Without comments and blank lines: what decides whether kernels are equal.
static std::string withoutComments(llvm::StringRef text) {
  std::string result;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    llvm::StringRef code = line.split("//").first.rtrim();
    if (!code.empty())
      result += code.str() + "\n";
    text = rest;
  }
  return result;
}

Launch KernelBuilder::finish(llvm::StringRef kind, llvm::StringRef types,
                             llvm::StringRef config, llvm::StringRef body,
                             llvm::ArrayRef<Dim> grid) {
  std::string text;
  for (const std::string &h : headers)
    text += "#include \"dlc/" + h + ".cuh\"\n";
  text += "using namespace dlc::dev;\nnamespace scalar = dlc::scalar;\n";
  text += std::string("using Index = ") + (narrow ? "int32_t" : "int64_t") +
          ";\n\nnamespace @_parts {\nstruct P {\n";
  auto member = [&](const char *type, const char *name, size_t n) {
    if (n)
      text +=
          std::string("  ") + type + name + "[" + std::to_string(n) + "];\n";
  };
  member("CUtensorMap ", "map", launch.maps.size());
  member("void *", "buffer", launch.buffers.size());
  member("const int64_t *", "cell", launch.cells.size());
  member("int64_t ", "symbol", launch.symbols.size());
  // A namespace of the kernel's own name and not an anonymous one: NVRTC gives
  // what is in the latter names that change from process to process.
  text +=
      "};\n" + accessors + "\n" + functors +
      "} // namespace @_parts\nusing namespace @_parts;\n\nDLC_KERNEL(@, P, " +
      std::to_string(threads) + ", " + std::to_string(minBlocks) + ", " +
      std::to_string(smemBytes) + ") {\n" + body.str() + "}\n";

  llvm::SHA256 hash;
  hash.update(withoutComments(text));
  std::array<uint8_t, 32> digest = hash.final();
  std::string name = ("dlc_" + kind + "_" + types).str();
  if (!config.empty())
    name += "_" + config.str();
  name += "_" + llvm::toHex(llvm::ArrayRef(digest).take_front(4), true);
  for (llvm::StringRef use : {"namespace @_parts {", "namespace @_parts\n",
                              "namespace @_parts;", "DLC_KERNEL(@"}) {
    size_t at = text.find(use.str()) + use.find('@');
    text.replace(at, 1, name);
  }

  if (!narrow)
    launch.limited.clear();
  launch.kernel.name = name;
  launch.kernel.text = std::move(text);
  launch.kernel.threads = threads;
  launch.kernel.smemBytes = smemBytes;
  launch.kernel.cluster = cluster;
  // A size that another kernel counts decides which tile a block takes, which
  // is before any wait: such a kernel starts when the one before has ended.
  launch.kernel.pdl = launch.cells.empty();
  launch.kernel.cooperative = cooperative;
  launch.kernel.maps = launch.maps.size();
  launch.kernel.buffers = launch.buffers.size();
  launch.kernel.cells = launch.cells.size();
  launch.kernel.symbols = launch.symbols.size();
  for (size_t i = 0; i < grid.size(); i++)
    launch.grid[i] = grid[i];
  return std::move(launch);
}
