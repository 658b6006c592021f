// SPDX-License-Identifier: Apache-2.0
// ir/scalar/Scalar.h: a function per pointwise op, from its expression.
#include "ir/tblgen/Emitters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dlc::tblgen {

namespace {

constexpr size_t kColumns = 80;

/// Prints words in lines that fit.
void emitWrapped(StringRef first, StringRef others, StringRef text,
                 raw_ostream &os) {
  std::string line = first.str();
  bool isFresh = true;
  for (StringRef word : split(text, ' ')) {
    if (!isFresh && line.size() + 1 + word.size() > kColumns) {
      os << line << "\n";
      line = others.str();
      isFresh = true;
    }
    line += ((isFresh ? "" : " ") + word).str();
    isFresh = false;
  }
  os << line << "\n";
}

void emitFunction(const OpRecord &op, raw_ostream &os) {
  emitWrapped("/// ", "/// ", op.summary, os);
  std::string head = "template <";
  {
    raw_string_ostream line(head);
    ListSeparator comma;
    for (StringRef p : op.scalarTypes.parameters())
      line << comma << "class " << p;
    line << "> DLC_SCALAR " << op.scalarTypes.result << " "
         << op.scalarFunction() << "(";
    ListSeparator next;
    for (auto [i, type] : enumerate(op.scalarTypes.operands))
      line << next << type << " x" << i;
    line << ") {";
  }
  std::string body = ("return " + op.scalar + ";").str();
  if (head.size() + body.size() + 3 <= kColumns) {
    os << head << " " << body << " }\n";
    return;
  }
  os << head << "\n";
  emitWrapped("  ", "      ", body, os);
  os << "}\n";
}

} // namespace

void emitScalar(ArrayRef<OpRecord> ops, raw_ostream &os) {
  os << "// SPDX-License-Identifier: Apache-2.0\n"
        "// Written by dlc-tblgen from ir/*.td: every pointwise op, for one "
        "element of the\n"
        "// type T that it computes in. Host and NVRTC compile this text.\n"
        "#pragma once\n"
        "#include \"ir/scalar/Functions.h\"\n\n"
        "namespace dlc::scalar {\n";
  for (const OpRecord &op : ops)
    if (op.hasTrait("Pointwise")) {
      os << "\n";
      emitFunction(op, os);
    }
  os << "\n} // namespace dlc::scalar\n";
}

} // namespace dlc::tblgen
