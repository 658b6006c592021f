// SPDX-License-Identifier: Apache-2.0
// Kinds, traits and tables of the ops, generated from ir/*.td.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>

namespace dlc {

enum class OpKind : uint16_t {
#define DLC_OP_KIND(name) name,
#define DLC_OP_KINDS
#include "ir/Ops.inc"
#undef DLC_OP_KIND
};

enum class OpTrait : uint8_t {
  Pointwise,
  Commutative,
  Pure,
  View,
  Hero,
  SameTypeOperands,
  Transcendental
};

/// Generated: what text form, verifier and dispatch need to know of a kind.
struct OpInfo {
  OpKind kind;
  llvm::StringRef mnemonic;
  llvm::StringRef className; ///< "MatMulOp"
  llvm::StringRef summary;
  uint32_t traits; ///< bit per OpTrait
  struct Operand {
    llvm::StringRef name;
    bool optional, variadic;
  };
  llvm::ArrayRef<Operand> operands;
  enum class AttrStorage : uint8_t {
    Bool,
    Int,
    Enum,
    Float,
    String,
    IntList,
    FloatList,
    StringList,
    DimList,
    Type,
    Layout,
    Dense
  };
  struct Attr {
    llvm::StringRef name;
    AttrStorage storage;
    bool optional, hasDefault;
    llvm::ArrayRef<llvm::StringRef> cases;
  };
  llvm::ArrayRef<Attr> attributes;
  llvm::ArrayRef<llvm::StringRef> results;
  bool variadicResults;
  llvm::ArrayRef<llvm::StringRef> regions;
  llvm::StringRef onnx;   ///< operator of the same meaning, or empty
  llvm::StringRef scalar; ///< name of the scalar function of a pointwise op
};

const OpInfo &opInfo(OpKind kind);
std::optional<OpKind> opKindFromMnemonic(llvm::StringRef mnemonic);
inline bool hasTrait(OpKind kind, OpTrait trait) {
  return opInfo(kind).traits >> unsigned(trait) & 1;
}

} // namespace dlc
