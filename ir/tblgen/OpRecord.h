// SPDX-License-Identifier: Apache-2.0
// A typed view of the op records of ir/*.td. All checks of the files are made
// when the views are built, so that emitters only print.
#pragma once

#include "ir/tblgen/ScalarExpression.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TableGen/Record.h"
#include <string>
#include <vector>

namespace dlc::tblgen {

struct OperandRecord {
  llvm::StringRef name;
  bool optional, variadic;
  llvm::StringRef types; ///< C++ predicate over `t`, or empty
  llvm::StringRef what;  ///< what the predicate expects, in words
};

struct EnumRecord {
  const llvm::Record *def;
  llvm::StringRef name;
  std::vector<llvm::StringRef> cases;
};

struct AttrRecord {
  llvm::StringRef name;
  std::string cppType;     ///< what the accessor gives, less std::optional
  std::string storageType; ///< member of dlc::Attribute
  std::string storage;     ///< enumerator of OpInfo::AttrStorage
  bool optional = false;
  llvm::StringRef defaultValue; ///< C++, or empty
  const llvm::Record *enumDef = nullptr;
  bool isList() const {
    return llvm::StringRef(cppType).starts_with("std::vector<");
  }
};

struct ConstraintRecord {
  llvm::StringRef condition, message;
  std::vector<llvm::StringRef> found;
};

struct OpRecord {
  const llvm::Record *def;
  std::string name; ///< "MatMul"
  llvm::StringRef mnemonic, summary, description, inferTypes;
  llvm::StringRef scalar, scalarResult, onnx;
  ScalarTypes scalarTypes; ///< of a pointwise op
  ScalarExpression scalarNames;
  std::vector<llvm::StringRef> traits;
  std::vector<OperandRecord> operands;
  std::vector<AttrRecord> attributes;
  std::vector<llvm::StringRef> results;
  bool variadicResults = false;
  std::vector<ConstraintRecord> constraints;
  std::vector<llvm::StringRef> regions;

  bool hasTrait(llvm::StringRef trait) const;
  std::string className() const { return name + "Op"; }
  /// "and_" of `and`; empty unless the op is pointwise.
  std::string scalarFunction() const {
    return hasTrait("Pointwise") ? tblgen::scalarFunction(mnemonic) : "";
  }
};

/// "round_prefer_floor" -> "RoundPreferFloor".
std::string camelCase(llvm::StringRef text);

/// All ops in the order of the files. Ends the process with a message at the
/// record's line when a record breaks a rule.
std::vector<OpRecord> readOps(const llvm::RecordKeeper &records);
std::vector<EnumRecord> readEnums(const llvm::RecordKeeper &records);

} // namespace dlc::tblgen
