// SPDX-License-Identifier: Apache-2.0
// The sections of ir/Ops.inc, the header and the pages that dlc-tblgen writes.
#pragma once

#include "ir/tblgen/OpRecord.h"
#include "llvm/Support/raw_ostream.h"

namespace dlc::tblgen {

/// Opens `#ifdef <guard>`, and closes it again, so that one file serves several
/// includes.
class Section {
public:
  Section(llvm::raw_ostream &os, llvm::StringRef guard) : os(os), guard(guard) {
    os << "\n#ifdef " << guard << "\n";
  }
  ~Section() { os << "#undef " << guard << "\n#endif // " << guard << "\n"; }

private:
  llvm::raw_ostream &os;
  llvm::StringRef guard;
};

/// DLC_OP_ENUMS: the enumerations and their text.
void emitEnums(llvm::ArrayRef<EnumRecord> enums, llvm::raw_ostream &os);
/// DLC_OP_CLASSES and DLC_OP_MAKE: a class per op, and its make function.
void emitClasses(llvm::ArrayRef<OpRecord> ops, llvm::raw_ostream &os);
void emitMakes(llvm::ArrayRef<OpRecord> ops, llvm::raw_ostream &os);
/// DLC_OP_INFO: the rows of OpInfo.
void emitInfo(llvm::ArrayRef<OpRecord> ops, llvm::raw_ostream &os);
/// Dispatch: types, defaults, verifier, and the lists for other libraries.
void emitDispatch(llvm::ArrayRef<OpRecord> ops, llvm::raw_ostream &os);
/// ir/scalar/Scalar.h: the pointwise ops, for one element.
void emitScalar(llvm::ArrayRef<OpRecord> ops, llvm::raw_ostream &os);
/// docs/ops.md.
void emitDocs(llvm::ArrayRef<OpRecord> ops, llvm::ArrayRef<EnumRecord> enums,
              llvm::raw_ostream &os);

} // namespace dlc::tblgen
