// SPDX-License-Identifier: Apache-2.0
// The generated tables and make functions.
#include "ir/Ops.h"

#include "llvm/ADT/StringMap.h"

namespace dlc {

#define DLC_OP_INFO
#include "ir/Ops.inc"
#define DLC_OP_MAKE
#include "ir/Ops.inc"

const OpInfo &opInfo(OpKind kind) {
  return opInfoTable[static_cast<size_t>(kind)];
}

std::optional<OpKind> opKindFromMnemonic(llvm::StringRef mnemonic) {
  static const llvm::StringMap<OpKind> kinds = [] {
    llvm::StringMap<OpKind> map;
    for (const OpInfo &info : opInfoTable)
      map[info.mnemonic] = info.kind;
    return map;
  }();
  auto it = kinds.find(mnemonic);
  if (it == kinds.end())
    return std::nullopt;
  return it->second;
}

Attribute defaultAttribute(OpKind kind, unsigned index) {
  switch (kind) {
#define DLC_OP_DEFAULTS
#include "ir/Ops.inc"
  default:
    break;
  }
  return {};
}

DataType scalarResultType(const Op &op) {
  DataType t = op.operand(0)->type().element;
  switch (op.kind()) {
#define DLC_OP_SCALAR_RESULT
#include "ir/Ops.inc"
  default:
    return t;
  }
}

} // namespace dlc
