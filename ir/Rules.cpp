// SPDX-License-Identifier: Apache-2.0
// The rules of the records: operands, attributes, constraints.
#include "ir/infer/Helpers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

namespace dlc {

namespace {

/// Of attention.
constexpr double largestScale = std::numeric_limits<float>::max();

bool isRefuted(bool holds) { return !holds; }
bool isRefuted(Proof p) { return p == Proof::Refuted; }

Proof sameShape(const TensorType &a, const TensorType &b) {
  Proof result = proof(a.rank() == b.rank());
  for (int64_t d = 0; d < a.rank() && result != Proof::Refuted; ++d)
    result = result && provedEqual(a.dim(d), b.dim(d));
  return result;
}

std::string foundText(const TensorType &t) { return t.str(); }
std::string foundText(double d) { return llvm::formatv("{0}", d).str(); }
template <std::integral T> std::string foundText(T i) {
  return std::to_string(i);
}

template <class... Found>
llvm::Error violated(const Op &op, llvm::StringRef sentence,
                     const Found &...found) {
  std::string text = sentence.str();
  llvm::ListSeparator separator(" and ");
  llvm::raw_string_ostream os(text);
  if (sizeof...(found))
    os << ", found ";
  ((os << separator << found), ...);
  return opError(op, text);
}

llvm::Error wrongOperandType(const Op &op, unsigned i,
                             llvm::StringRef expected) {
  return opError(op, opInfo(op.kind()).operands[i].name + " must be " +
                         expected + ", found " + op.operand(i)->type().str());
}

llvm::Error checkOperands(const Op &op) {
  const OpInfo &info = opInfo(op.kind());
  bool variadic = !info.operands.empty() && info.operands.back().variadic;
  size_t fixed = info.operands.size() - variadic;
  if (op.numOperands() < fixed || (!variadic && op.numOperands() > fixed))
    return opError(op, llvm::Twine(op.numOperands()) + " operands, expected " +
                           llvm::Twine(fixed) + (variadic ? " or more" : ""));
  for (unsigned i = 0; i != op.numOperands(); ++i) {
    const OpInfo::Operand &o =
        info.operands[std::min<size_t>(i, info.operands.size() - 1)];
    if (!op.operand(i) && !o.optional)
      return opError(op, "operand " + llvm::Twine(i) + " (" + o.name +
                             ") is absent");
  }
  if (hasTrait(op.kind(), OpTrait::SameTypeOperands)) {
    DataType first = op.operand(0)->type().element;
    for (Value *v : op.operands())
      if (v && v->type().element != first)
        return opError(op, "operands must have one element type, found " +
                               stringify(first) + " and " +
                               stringify(v->type().element));
  }
  return llvm::Error::success();
}

/// Does the variant hold what the record says?
bool holds(const Attribute &a, OpInfo::AttrStorage storage) {
  using S = OpInfo::AttrStorage;
  switch (storage) {
  case S::Bool:
    return std::holds_alternative<bool>(a);
  case S::Int:
  case S::Enum:
    return std::holds_alternative<int64_t>(a);
  case S::Float:
    return std::holds_alternative<double>(a);
  case S::String:
    return std::holds_alternative<std::string>(a);
  case S::IntList:
    return std::holds_alternative<std::vector<int64_t>>(a);
  case S::FloatList:
    return std::holds_alternative<std::vector<double>>(a);
  case S::StringList:
    return std::holds_alternative<std::vector<std::string>>(a);
  case S::DimList:
    return std::holds_alternative<std::vector<Dim>>(a);
  case S::Type:
    return std::holds_alternative<DataType>(a);
  case S::Layout:
    return std::holds_alternative<Layout>(a);
  case S::Dense:
    return std::holds_alternative<Constant>(a);
  }
  return false;
}

llvm::Error checkAttributes(const Op &op) {
  const OpInfo &info = opInfo(op.kind());
  if (op.numAttributes() != info.attributes.size())
    return opError(op, llvm::Twine(op.numAttributes()) +
                           " attributes, expected " +
                           llvm::Twine(info.attributes.size()));
  for (unsigned i = 0; i != op.numAttributes(); ++i) {
    const OpInfo::Attr &expected = info.attributes[i];
    const Attribute &a = op.attribute(i);
    if (std::holds_alternative<std::monostate>(a)) {
      if (expected.optional || expected.hasDefault)
        continue;
      return opError(op, "attribute " + expected.name + " is missing");
    }
    if (!holds(a, expected.storage))
      return opError(op, "attribute " + expected.name + " has a wrong kind");
    if (expected.storage == OpInfo::AttrStorage::Enum &&
        size_t(std::get<int64_t>(a)) >= expected.cases.size())
      return opError(op, "attribute " + expected.name + " is no case: " +
                             llvm::Twine(std::get<int64_t>(a)));
    if (const auto *dims = std::get_if<std::vector<Dim>>(&a))
      for (const Dim &d : *dims)
        if (d.overflowed())
          return opError(op,
                         "attribute " + expected.name + " overflows 64 bits");
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error verifyRules(const Op &operation) {
  if (llvm::Error e = checkOperands(operation))
    return e;
  if (llvm::Error e = checkAttributes(operation))
    return e;
  switch (operation.kind()) {
#define DLC_OP_RULES
#include "ir/Ops.inc"
  default:
    break;
  }
  return llvm::Error::success();
}

} // namespace dlc
