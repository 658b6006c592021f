// SPDX-License-Identifier: Apache-2.0
// Reads a node; every fault names it.
#include "compiler/onnx/NodeReader.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace dlc;
using onnx::AttributeProto;

NodeReader::NodeReader(ImportContext &context, Scope &scope,
                       const onnx::NodeProto &node, int64_t opset,
                       llvm::ArrayRef<Value *> inputs, Location location)
    : context(context), scope(scope), node(node), version(opset),
      values(inputs.begin(), inputs.end()), inputsRead(inputs.size(), false),
      outputs(size_t(node.output_size()), nullptr), place(std::move(location)) {
}

Value *NodeReader::input(unsigned i) {
  if (i >= values.size())
    return nullptr;
  inputsRead[i] = true;
  return values[i];
}

llvm::ArrayRef<Value *> NodeReader::inputs() {
  inputsRead.assign(inputsRead.size(), true);
  return values;
}

static std::string ordinal(unsigned i, llvm::StringRef what) {
  return ("input " + llvm::Twine(i) + " (" + what + ")").str();
}

std::optional<Constant> NodeReader::constant(unsigned i, llvm::StringRef what) {
  Value *value = input(i);
  if (!value || failed())
    return std::nullopt;
  std::optional<Constant> known = context.known.constant(value);
  if (!known)
    error(ordinal(i, what) +
          " must be known at compile time: " + context.known.whyUnknown(value));
  return known;
}

std::optional<std::vector<Dim>> NodeReader::dims(unsigned i,
                                                 llvm::StringRef what) {
  Value *value = input(i);
  if (!value || failed())
    return std::nullopt;
  if (!isInteger(value->type().element)) {
    error(ordinal(i, what) + " has type " + value->type().str() +
          ", expected an integer tensor");
    return std::nullopt;
  }
  std::optional<std::vector<Dim>> known = context.known.dims(value);
  if (!known)
    error(ordinal(i, what) +
          " must be known at compile time: " + context.known.whyUnknown(value));
  return known;
}

std::optional<std::vector<int64_t>> NodeReader::ints(unsigned i,
                                                     llvm::StringRef what) {
  std::optional<std::vector<Dim>> known = dims(i, what);
  if (!known)
    return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Dim &d : *known) {
    if (!d.isConstant()) {
      error(ordinal(i, what) + " must be a number at compile time, found " +
            d.str());
      return std::nullopt;
    }
    numbers.push_back(d.constant());
  }
  return numbers;
}

const AttributeProto *NodeReader::find(llvm::StringRef name) const {
  for (const AttributeProto &a : node.attribute())
    if (name == a.name())
      return &a;
  return nullptr;
}

/// The type of an attribute; old files leave it out.
static AttributeProto::AttributeType typeOf(const AttributeProto &a) {
  if (a.has_type() && a.type() != AttributeProto::UNDEFINED)
    return a.type();
  if (a.has_f())
    return AttributeProto::FLOAT;
  if (a.has_i())
    return AttributeProto::INT;
  if (a.has_s())
    return AttributeProto::STRING;
  if (a.has_t())
    return AttributeProto::TENSOR;
  if (a.has_g())
    return AttributeProto::GRAPH;
  if (a.floats_size())
    return AttributeProto::FLOATS;
  if (a.ints_size())
    return AttributeProto::INTS;
  if (a.strings_size())
    return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

static llvm::StringRef typeName(AttributeProto::AttributeType type) {
  static constexpr llvm::StringLiteral names[] = {
      "UNDEFINED",      "FLOAT",      "INT",        "STRING",
      "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
      "STRINGS",        "TENSORS",    "GRAPHS",     "SPARSE_TENSOR",
      "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  return unsigned(type) < std::size(names) ? names[unsigned(type)] : "UNKNOWN";
}

const AttributeProto *
NodeReader::attribute(llvm::StringRef name,
                      AttributeProto::AttributeType type) {
  if (!llvm::is_contained(asked, name))
    asked.push_back(name.str());
  const AttributeProto *a = find(name);
  if (!a)
    return nullptr;
  AttributeProto::AttributeType found = typeOf(*a);
  // An empty list has lost its type in old files.
  bool isList = type == AttributeProto::INTS ||
                type == AttributeProto::FLOATS ||
                type == AttributeProto::STRINGS;
  if (found == type || (found == AttributeProto::UNDEFINED && isList))
    return a;
  error("attribute \"" + name + "\" has type " + typeName(found) +
        ", expected " + typeName(type));
  return nullptr;
}

int64_t NodeReader::integer(llvm::StringRef name, int64_t otherwise) {
  const AttributeProto *a = attribute(name, AttributeProto::INT);
  return a ? a->i() : otherwise;
}

int64_t NodeReader::requiredInteger(llvm::StringRef name) {
  if (!has(name))
    error("attribute \"" + name + "\" is missing");
  return integer(name, 0);
}

bool NodeReader::flag(llvm::StringRef name, bool otherwise) {
  int64_t value = integer(name, otherwise);
  if (value != 0 && value != 1)
    error("attribute \"" + name + "\" is " + llvm::Twine(value) +
          ", expected 0 or 1");
  return value != 0;
}

double NodeReader::real(llvm::StringRef name, double otherwise) {
  const AttributeProto *a = attribute(name, AttributeProto::FLOAT);
  return a ? double(a->f()) : otherwise;
}

std::string NodeReader::text(llvm::StringRef name, llvm::StringRef otherwise) {
  const AttributeProto *a = attribute(name, AttributeProto::STRING);
  return a ? a->s() : otherwise.str();
}

std::vector<int64_t> NodeReader::integers(llvm::StringRef name) {
  const AttributeProto *a = attribute(name, AttributeProto::INTS);
  return a ? std::vector<int64_t>(a->ints().begin(), a->ints().end())
           : std::vector<int64_t>();
}

std::vector<double> NodeReader::reals(llvm::StringRef name) {
  const AttributeProto *a = attribute(name, AttributeProto::FLOATS);
  return a ? std::vector<double>(a->floats().begin(), a->floats().end())
           : std::vector<double>();
}

std::vector<std::string> NodeReader::texts(llvm::StringRef name) {
  const AttributeProto *a = attribute(name, AttributeProto::STRINGS);
  return a ? std::vector<std::string>(a->strings().begin(), a->strings().end())
           : std::vector<std::string>();
}

int64_t NodeReader::normalizeAxis(int64_t axis, int64_t rank,
                                  llvm::StringRef what, bool mayBeRank) {
  int64_t most = mayBeRank ? rank : rank - 1;
  if (axis < -rank || axis > most) {
    if (rank == 0 && !mayBeRank)
      error(what + " is " + llvm::Twine(axis) +
            ", but the tensor has no dimensions");
    else
      error(what + " is " + llvm::Twine(axis) + ", expected " +
            llvm::Twine(-rank) + " to " + llvm::Twine(most));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

int64_t NodeReader::axis(llvm::StringRef name, int64_t otherwise, int64_t rank,
                         bool mayBeRank) {
  return normalizeAxis(integer(name, otherwise), rank,
                       ("attribute \"" + name + "\"").str(), mayBeRank);
}

std::vector<int64_t> NodeReader::normalizeAxes(llvm::ArrayRef<int64_t> axes,
                                               int64_t rank,
                                               llvm::StringRef what) {
  std::vector<int64_t> result;
  for (int64_t axis : axes) {
    int64_t positive = normalizeAxis(axis, rank, what);
    if (failed())
      return {};
    if (llvm::is_contained(result, positive)) {
      error(what + " names dimension " + llvm::Twine(positive) + " twice");
      return {};
    }
    result.push_back(positive);
  }
  return result;
}

std::optional<DataType> NodeReader::elementType(llvm::StringRef name) {
  // No number beyond these becomes a type by losing its upper bits.
  int64_t number = std::clamp<int64_t>(requiredInteger(name), -1, 1 << 16);
  std::optional<DataType> type = elementTypeOf(int(number));
  if (!type && !failed())
    error("attribute \"" + name + "\": " + unsupportedType(int(number)));
  return type;
}

void NodeReader::error(const llvm::Twine &message) {
  if (!hasFailed)
    context.diagnostics.error(place, message);
  hasFailed = true;
}

void NodeReader::result(unsigned i, Value *value) {
  if (i < outputs.size())
    outputs[i] = value;
}

void NodeReader::checkAllRead() {
  std::string operatorName =
      opType().str() + " of opset " + std::to_string(version);
  for (const AttributeProto &a : node.attribute())
    if (!llvm::is_contained(asked, a.name())) {
      hasFailed = true;
      context.diagnostics.error(
          place, "attribute \"" + a.name() +
                     "\" is not supported: " + operatorName + " has " +
                     (asked.empty() ? "none" : llvm::join(asked, ", ")));
    }
  for (unsigned i = 0; i < values.size(); ++i)
    if (values[i] && !inputsRead[i])
      error("input " + llvm::Twine(i) + " is not supported by " + operatorName);
}
