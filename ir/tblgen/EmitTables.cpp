// SPDX-License-Identifier: Apache-2.0
// Tables and dispatch over the kinds of ops.
#include "ir/tblgen/Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dlc::tblgen {

namespace {

std::string quoted(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  os << '"';
  os.write_escaped(text) << '"';
  return result;
}

void emitStrings(StringRef name, ArrayRef<StringRef> strings, raw_ostream &os) {
  if (strings.empty())
    return;
  os << "static constexpr llvm::StringRef " << name << "[] = {";
  ListSeparator comma;
  for (StringRef s : strings)
    os << comma << quoted(s);
  os << "};\n";
}

StringRef orEmpty(bool any, StringRef name) { return any ? name : "{}"; }

void emitInfoArrays(const OpRecord &op, raw_ostream &os) {
  if (!op.operands.empty()) {
    os << "static constexpr OpInfo::Operand operandsOf" << op.name << "[] = {";
    for (const OperandRecord &o : op.operands)
      os << "{" << quoted(o.name) << ", " << (o.optional ? "true" : "false")
         << ", " << (o.variadic ? "true" : "false") << "}, ";
    os << "};\n";
  }
  for (const AttrRecord &a : op.attributes)
    if (a.enumDef)
      emitStrings("casesOf" + op.name + a.name.str(),
                  a.enumDef->getValueAsListOfStrings("cases"), os);
  if (!op.attributes.empty()) {
    os << "static constexpr OpInfo::Attr attributesOf" << op.name << "[] = {\n";
    for (const AttrRecord &a : op.attributes)
      os << "  {" << quoted(a.name) << ", OpInfo::AttrStorage::" << a.storage
         << ", " << (a.optional ? "true" : "false") << ", "
         << (a.defaultValue.empty() ? "false" : "true") << ", "
         << orEmpty(a.enumDef, "casesOf" + op.name + a.name.str()) << "},\n";
    os << "};\n";
  }
  emitStrings("resultsOf" + op.name, op.results, os);
  emitStrings("regionsOf" + op.name, op.regions, os);
}

void emitInfoRow(const OpRecord &op, raw_ostream &os) {
  os << "  {OpKind::" << op.name << ", " << quoted(op.mnemonic) << ", "
     << quoted(op.className()) << ", " << quoted(op.summary) << ",\n   0";
  for (StringRef t : op.traits)
    os << " | 1u << unsigned(OpTrait::" << t << ")";
  os << ",\n   " << orEmpty(!op.operands.empty(), "operandsOf" + op.name)
     << ", " << orEmpty(!op.attributes.empty(), "attributesOf" + op.name)
     << ", resultsOf" << op.name << ", "
     << (op.variadicResults ? "true" : "false") << ", "
     << orEmpty(!op.regions.empty(), "regionsOf" + op.name) << ", "
     << quoted(op.onnx) << ", " << quoted(op.scalarFunction()) << "},\n";
}

/// Operands of a pointwise op that its scalar types want to be of one type.
std::vector<std::pair<size_t, size_t>> equalOperands(const OpRecord &op) {
  std::vector<std::pair<size_t, size_t>> pairs;
  if (op.hasTrait("SameTypeOperands"))
    return pairs; // its own rule
  ArrayRef<StringRef> types = op.scalarTypes.operands;
  for (size_t i = 0; i != types.size(); i++) {
    auto next = llvm::find(types.drop_front(i + 1), types[i]);
    if (types[i] != "bool" && next != types.end())
      pairs.push_back({i, size_t(next - types.begin())});
  }
  return pairs;
}

/// The operand types and constraints of one op; `operation` is in scope.
void emitRules(const OpRecord &op, raw_ostream &os) {
  bool typed = any_of(op.operands,
                      [](const OperandRecord &o) { return !o.types.empty(); });
  std::vector<std::pair<size_t, size_t>> pairs = equalOperands(op);
  if (!typed && op.constraints.empty() && pairs.empty())
    return;
  os << "case OpKind::" << op.name << ": {\n";
  for (auto [i, o] : enumerate(op.operands)) {
    if (o.types.empty())
      continue;
    os << "  if (const Value *v = operation.operand(" << i
       << ")) {\n    DataType t = v->type().element;\n    if (!(" << o.types
       << "))\n      return wrongOperandType(operation, " << i << ", "
       << quoted(o.what) << ");\n  }\n";
  }
  if (!op.constraints.empty())
    os << "  " << op.className() << " op(const_cast<Op *>(&operation));\n";
  for (auto [i, k] : pairs)
    os << "  if (operation.operand(" << i << ")->type().element != "
       << "operation.operand(" << k << ")->type().element)\n"
       << "    return violated(operation, "
       << quoted((op.operands[i].name + " and " + op.operands[k].name +
                  " must have one element type")
                     .str())
       << ", foundText(operation.operand(" << i
       << ")->type()), foundText(operation.operand(" << k << ")->type()));\n";
  for (const ConstraintRecord &c : op.constraints) {
    os << "  if (isRefuted(" << c.condition
       << "))\n    return violated(operation, " << quoted(c.message);
    for (StringRef f : c.found)
      os << ", foundText(" << f << ")";
    os << ");\n";
  }
  os << "  break;\n}\n";
}

void emitDefaults(ArrayRef<OpRecord> ops, raw_ostream &os) {
  Section section(os, "DLC_OP_DEFAULTS");
  for (const OpRecord &op : ops) {
    if (none_of(op.attributes,
                [](const AttrRecord &a) { return !a.defaultValue.empty(); }))
      continue;
    os << "case OpKind::" << op.name << ":\n  switch (index) {\n";
    for (auto [i, a] : enumerate(op.attributes)) {
      if (a.defaultValue.empty())
        continue;
      os << "  case " << i << ": return Attribute(" << a.storageType << "(";
      if (a.enumDef)
        os << "static_cast<int64_t>(" << a.defaultValue << ")";
      else
        os << a.defaultValue;
      os << "));\n";
    }
    os << "  default: break;\n  }\n  break;\n";
  }
}

} // namespace

void emitInfo(ArrayRef<OpRecord> ops, raw_ostream &os) {
  Section section(os, "DLC_OP_INFO");
  for (const OpRecord &op : ops)
    emitInfoArrays(op, os);
  os << "static constexpr OpInfo opInfoTable[] = {\n";
  for (const OpRecord &op : ops)
    emitInfoRow(op, os);
  os << "};\n";
}

void emitDispatch(ArrayRef<OpRecord> ops, raw_ostream &os) {
  {
    Section section(os, "DLC_OP_KINDS");
    for (const OpRecord &op : ops)
      os << "DLC_OP_KIND(" << op.name << ")\n";
  }
  {
    Section section(os, "DLC_OP_INFER_DECLARATIONS");
    std::vector<StringRef> seen;
    for (const OpRecord &op : ops) {
      if (op.inferTypes.empty() || is_contained(seen, op.inferTypes))
        continue;
      seen.push_back(op.inferTypes);
      os << "InferResult " << op.inferTypes << "(const Op &op);\n";
    }
  }
  {
    Section section(os, "DLC_OP_INFER");
    for (const OpRecord &op : ops)
      if (!op.inferTypes.empty())
        os << "case OpKind::" << op.name << ": return " << op.inferTypes
           << "(op);\n";
  }
  {
    // Element type of a pointwise op's result where it is not that of the
    // first operand, `t`.
    Section section(os, "DLC_OP_SCALAR_RESULT");
    for (const OpRecord &op : ops) {
      ArrayRef<StringRef> operands = op.scalarTypes.operands;
      auto same = llvm::find(operands, op.scalarTypes.result);
      if (!op.scalarResult.empty())
        os << "case OpKind::" << op.name << ": return " << op.scalarResult
           << ";\n";
      else if (same != operands.begin() && same != operands.end())
        os << "case OpKind::" << op.name << ": return op.operand("
           << same - operands.begin() << ")->type().element;\n";
    }
  }
  emitDefaults(ops, os);
  {
    Section section(os, "DLC_OP_RULES");
    for (const OpRecord &op : ops)
      emitRules(op, os);
  }
  {
    // DLC_OP_EVALUATOR(Name): ops whose meaning is the function
    // dlc::reference::evaluate<Name>.
    Section section(os, "DLC_OP_EVALUATORS");
    for (const OpRecord &op : ops)
      if (!op.hasTrait("Pointwise"))
        os << "DLC_OP_EVALUATOR(" << op.name << ")\n";
  }
  {
    // DLC_SCALAR_OP(Name, function, types, operands...): pointwise ops, their
    // function of ir/scalar, the element types it is for (C++ over `t`), and
    // the C++ types of its operands over one T.
    Section section(os, "DLC_SCALAR_OPS");
    for (const OpRecord &op : ops) {
      if (!op.hasTrait("Pointwise"))
        continue;
      os << "DLC_SCALAR_OP(" << op.name << ", " << op.scalarFunction() << ", "
         << (op.operands.back().types.empty() ? "true"
                                              : op.operands.back().types);
      for (StringRef type : op.scalarTypes.operands)
        os << ", " << (type == "bool" ? "bool" : "T");
      os << ")\n";
    }
  }
  {
    // DLC_ONNX_OP("Operator", Name): imported operand by operand.
    Section section(os, "DLC_ONNX_OPS");
    for (const OpRecord &op : ops)
      if (!op.onnx.empty())
        os << "DLC_ONNX_OP(" << quoted(op.onnx) << ", " << op.name << ")\n";
  }
}

} // namespace dlc::tblgen
