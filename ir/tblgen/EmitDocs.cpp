// SPDX-License-Identifier: Apache-2.0
// docs/ops.md: the manual page of each op, from its record.
#include "ir/tblgen/Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;

namespace dlc::tblgen {

namespace {

StringRef storageInWords(const AttrRecord &a) {
  return StringSwitch<StringRef>(a.storage)
      .Case("Bool", "bool")
      .Case("Int", "integer")
      .Case("Float", "number")
      .Case("String", "string")
      .Case("IntList", "integers")
      .Case("FloatList", "numbers")
      .Case("StringList", "strings")
      .Case("DimList", "dimension expressions")
      .Case("Type", "element type")
      .Case("Layout", "layout")
      .Case("Dense", "dense constant")
      .Default("");
}

void emitAttribute(const AttrRecord &a, raw_ostream &os) {
  os << "| `" << a.name << "` | attribute | ";
  if (a.enumDef) {
    ListSeparator comma;
    for (StringRef c : a.enumDef->getValueAsListOfStrings("cases"))
      os << comma << "`" << c << "`";
  } else {
    os << storageInWords(a);
  }
  if (a.optional)
    os << "; optional";
  if (!a.defaultValue.empty()) {
    StringRef text = a.defaultValue;
    if (a.enumDef)
      for (StringRef c : a.enumDef->getValueAsListOfStrings("cases"))
        if (a.defaultValue == (a.cppType + "::" + camelCase(c)))
          text = c;
    os << "; default `" << (text == "{}" ? "[]" : text) << "`";
  }
  os << " |\n";
}

void emitOp(const OpRecord &op, raw_ostream &os) {
  os << "\n### " << op.mnemonic << "\n\n" << op.summary << "\n";
  if (!op.description.empty())
    os << "\n" << op.description << "\n";
  os << "\n| name | is | |\n|---|---|---|\n";
  for (const OperandRecord &o : op.operands) {
    os << "| `" << o.name << "` | operand" << (o.variadic ? "s" : "") << " | "
       << o.what
       << (o.optional ? (o.what.empty() ? "optional" : "; optional") : "")
       << " |\n";
  }
  for (const AttrRecord &a : op.attributes)
    emitAttribute(a, os);
  for (StringRef r : op.regions)
    os << "| `" << r << "` | region | |\n";
  for (StringRef r : op.results)
    os << "| `" << r << "` | result" << (op.variadicResults ? "s" : "")
       << " | |\n";
  if (!op.constraints.empty()) {
    os << "\nConstraints:\n\n";
    for (const ConstraintRecord &c : op.constraints)
      os << "- " << c.message << "\n";
  }
  if (op.hasTrait("Pointwise"))
    os << "\nScalar: `" << op.scalar << "`\n";
  os << "\nTraits: ";
  if (op.traits.empty())
    os << "none";
  ListSeparator comma;
  for (StringRef t : op.traits)
    os << comma << t;
  os << ".";
  if (!op.onnx.empty())
    os << " ONNX `" << op.onnx << "`, operand by operand.";
  os << "\n";
}

/// "PointwiseOps.td" -> "Pointwise": the family is the file.
std::string familyOf(const OpRecord &op) {
  SMLoc loc = op.def->getLoc().front();
  unsigned buffer = SrcMgr.FindBufferContainingLoc(loc);
  StringRef stem =
      sys::path::stem(SrcMgr.getMemoryBuffer(buffer)->getBufferIdentifier());
  stem.consume_back("Ops");
  return stem.str();
}

} // namespace

void emitDocs(ArrayRef<OpRecord> ops, ArrayRef<EnumRecord>, raw_ostream &os) {
  os << "# Ops\n\nWritten by dlc-tblgen from `ir/*.td`; do not edit. What all "
        "ops have in common\n(broadcasting, NaN, overflow, rounding, text "
        "form) is in [ir.md](ir.md).\n";
  std::string family;
  for (const OpRecord &op : ops) {
    std::string next = familyOf(op);
    if (next != family)
      os << "\n## " << next << "\n";
    family = next;
    emitOp(op, os);
  }
}

} // namespace dlc::tblgen
