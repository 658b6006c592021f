// SPDX-License-Identifier: Apache-2.0
// The type of a value.
#include "ir/Type.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

bool TensorType::isStatic() const {
  return llvm::all_of(shape, [](const Dim &d) { return d.isConstant(); });
}

Dim TensorType::storageBytes() const {
  Dim elements = layout.storageElements(shape);
  unsigned bits = bitWidth(element);
  return bits >= 8 ? elements * (bits / 8) : ceilDiv(elements, 8 / bits);
}

void TensorType::print(llvm::raw_ostream &os) const {
  os << "tensor<";
  for (const Dim &d : shape) {
    bool compound = d.kind() == Dim::Kind::Add || d.kind() == Dim::Kind::Mul;
    if (compound)
      os << "(" << d << ")x";
    else
      os << d << "x";
  }
  os << stringify(element);
  if (!layout.isRowMajor())
    os << ", " << layout.str(rank());
  os << ">";
}

std::string TensorType::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

} // namespace dlc
