// SPDX-License-Identifier: Apache-2.0
// The C++ class of each op: accessors over operands, attributes and regions.
#include "ir/tblgen/Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dlc::tblgen {

namespace {

/// "std::vector<int64_t>" -> "int64_t".
StringRef elementOf(StringRef list) {
  list.consume_front("std::vector<");
  list.consume_back(">");
  return list;
}

std::string parameterType(const AttrRecord &a) {
  if (a.optional)
    return "std::optional<" + a.cppType + ">";
  if (a.isList())
    return "llvm::ArrayRef<" + elementOf(a.cppType).str() + ">";
  return a.cppType;
}

/// The parameters of make; with default arguments where they are legal: on the
/// attributes after the last one that has to be given.
void emitParameters(const OpRecord &op, bool defaults, raw_ostream &os) {
  os << "Location location";
  for (const OperandRecord &o : op.operands)
    os << ", " << (o.variadic ? "llvm::ArrayRef<Value *> " : "Value *")
       << o.name;
  size_t firstDefault = 0;
  for (auto [i, a] : enumerate(op.attributes))
    if (!a.optional && a.defaultValue.empty())
      firstDefault = i + 1;
  bool takesTypes = op.inferTypes.empty();
  for (auto [i, a] : enumerate(op.attributes)) {
    os << ", " << parameterType(a) << " " << a.name;
    if (!defaults || takesTypes || i < firstDefault)
      continue;
    os << " = " << (a.optional ? "std::nullopt" : a.defaultValue);
  }
  if (takesTypes)
    os << ", llvm::ArrayRef<TensorType> resultTypes";
}

void emitAttributeAccessor(const AttrRecord &a, size_t i, raw_ostream &os) {
  std::string get = "operation->attribute(" + std::to_string(i) + ")";
  if (a.optional) {
    os << "  std::optional<" << a.cppType << "> " << a.name
       << "() const { return optionalAttribute<" << a.cppType << ", "
       << a.storageType << ">(" << get << "); }\n";
    return;
  }
  bool byReference = a.isList() || a.storage == "String" ||
                     a.storage == "Layout" || a.storage == "Dense";
  os << "  " << (byReference ? "const " : "") << a.cppType
     << (byReference ? " &" : " ") << a.name << "() const { ";
  if (byReference && !a.defaultValue.empty())
    os << "static const " << a.cppType << " value = " << a.defaultValue
       << "; return attributeOr<" << a.cppType << ">(" << get << ", value);";
  else if (byReference)
    os << "return std::get<" << a.cppType << ">(" << get << ");";
  else if (!a.defaultValue.empty())
    os << "return valueAttribute<" << a.cppType << ", " << a.storageType << ">("
       << get << ", " << a.defaultValue << ");";
  else
    os << "return static_cast<" << a.cppType << ">(std::get<" << a.storageType
       << ">(" << get << "));";
  os << " }\n";
}

void emitClass(const OpRecord &op, raw_ostream &os) {
  os << "/// " << op.summary << "\n";
  os << "class " << op.className() << " : public OpView {\npublic:\n";
  os << "  using OpView::OpView;\n";
  os << "  static constexpr OpKind opKind = OpKind::" << op.name << ";\n";
  os << "  static bool classof(const Op *op) { return op->kind() == opKind; "
        "}\n";
  for (auto [i, o] : enumerate(op.operands)) {
    if (o.variadic)
      os << "  llvm::ArrayRef<Value *> " << o.name
         << "() const { return operation->operands().drop_front(" << i
         << "); }\n";
    else
      os << "  Value *" << o.name << "() const { return operation->operand("
         << i << "); }\n";
  }
  for (auto [i, a] : enumerate(op.attributes))
    emitAttributeAccessor(a, i, os);
  for (auto [i, r] : enumerate(op.regions))
    os << "  Graph &" << r << "() const { return operation->region(" << i
       << "); }\n";
  if (!op.variadicResults)
    for (auto [i, r] : enumerate(op.results))
      if (r != "result")
        os << "  Value *" << r << "() const { return operation->result(" << i
           << "); }\n";
  os << "  /// Positions of operands, attributes and results.\n";
  for (auto [i, o] : enumerate(op.operands))
    os << "  static constexpr unsigned " << o.name << "Operand = " << i
       << ";\n";
  for (auto [i, a] : enumerate(op.attributes))
    os << "  static constexpr unsigned " << a.name << "Attr = " << i << ";\n";
  os << "  static Op *make(";
  emitParameters(op, /*defaults=*/true, os);
  os << ");\n};\n\n";
}

void emitMake(const OpRecord &op, raw_ostream &os) {
  os << "Op *" << op.className() << "::make(";
  emitParameters(op, /*defaults=*/false, os);
  os << ") {\n";
  os << "  llvm::SmallVector<Value *, 4> operands;\n";
  for (const OperandRecord &o : op.operands)
    if (o.variadic)
      os << "  operands.append(" << o.name << ".begin(), " << o.name
         << ".end());\n";
    else
      os << "  operands.push_back(" << o.name << ");\n";
  os << "  std::vector<Attribute> attributes(" << op.attributes.size()
     << ");\n";
  for (auto [i, a] : enumerate(op.attributes)) {
    std::string value = a.name.str();
    if (a.optional) {
      os << "  if (" << a.name << ")\n  ";
      value = "*" + value;
    }
    os << "  attributes[" << i << "] = ";
    if (a.isList())
      os << a.cppType << "(" << a.name << ".begin(), " << a.name
         << ".end());\n";
    else if (a.enumDef)
      os << "static_cast<int64_t>(" << value << ");\n";
    else
      os << "std::move(" << value << ");\n";
  }
  os << "  return Op::create(OpKind::" << op.name
     << ", operands, std::move(attributes), ";
  os << (op.inferTypes.empty() ? "resultTypes" : "{}")
     << ", std::move(location), " << op.regions.size() << ");\n}\n\n";
}

} // namespace

void emitEnums(ArrayRef<EnumRecord> enums, raw_ostream &os) {
  Section section(os, "DLC_OP_ENUMS");
  for (const EnumRecord &e : enums) {
    os << "enum class " << e.name << " : int64_t { ";
    ListSeparator comma;
    for (StringRef c : e.cases)
      os << comma << camelCase(c);
    os << " };\n";
    os << "inline constexpr llvm::StringRef namesOf" << e.name << "[] = {";
    ListSeparator comma2;
    for (StringRef c : e.cases)
      os << comma2 << "\"" << c << "\"";
    os << "};\n";
    os << "inline llvm::StringRef stringify(" << e.name
       << " value) { return namesOf" << e.name
       << "[static_cast<size_t>(value)]; }\n";
    os << "inline std::optional<" << e.name << "> parse" << e.name
       << "(llvm::StringRef text) {\n  for (size_t i = 0; i != "
       << e.cases.size() << "; ++i)\n    if (namesOf" << e.name
       << "[i] == text)\n      return static_cast<" << e.name
       << ">(i);\n  return std::nullopt;\n}\n\n";
  }
}

void emitClasses(ArrayRef<OpRecord> ops, raw_ostream &os) {
  Section section(os, "DLC_OP_CLASSES");
  for (const OpRecord &op : ops)
    emitClass(op, os);
}

void emitMakes(ArrayRef<OpRecord> ops, raw_ostream &os) {
  Section section(os, "DLC_OP_MAKE");
  for (const OpRecord &op : ops)
    emitMake(op, os);
}

} // namespace dlc::tblgen
