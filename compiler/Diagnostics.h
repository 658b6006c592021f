// SPDX-License-Identifier: Apache-2.0
// What is wrong with a user's model or flags: a list of places and sentences.
#pragma once

#include "ir/Location.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace dlc {

/// One fault of the user's model or flags. The message starts small, has no
/// full stop, and says what was found and what was expected.
struct Diagnostic {
  Location location;
  std::string message;
  /// `node "conv_1" (Conv): message`, or the message where no place is known.
  std::string str() const;
};

/// Collects all faults instead of stopping at the first.
class Diagnostics {
public:
  void error(Location location, const llvm::Twine &message);
  void error(const llvm::Twine &message) { error(Location(), message); }
  /// What is worth knowing but stops nothing, once: answers to --explain, what
  /// was taken for granted.
  void note(Location location, const llvm::Twine &message);
  void note(const llvm::Twine &message) { note(Location(), message); }
  llvm::ArrayRef<Diagnostic> notes() const { return remarks; }
  bool hasErrors() const { return !faults.empty(); }
  llvm::ArrayRef<Diagnostic> errors() const { return faults; }
  /// One line per fault, each preceded by `prefix`.
  void print(llvm::raw_ostream &os, llvm::StringRef prefix = "error: ") const;

private:
  std::vector<Diagnostic> faults, remarks;
};

} // namespace dlc
