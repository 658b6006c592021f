// SPDX-License-Identifier: Apache-2.0
// A place in a text, and the tokens of the text form.
#pragma once

#include "ir/Type.h"
#include <string>

namespace dlc {

/// Functions that read return whether they could; the first failure is kept
/// with its place, and everything after it fails.
class Cursor {
public:
  explicit Cursor(llvm::StringRef text) : text(text) {}

  bool failed() const { return failurePlace != nullptr; }
  const char *place() const { return failurePlace; }
  const std::string &message() const { return failure; }
  /// Records a failure at the next token; always false.
  bool fail(const llvm::Twine &message);
  bool failAt(const char *where, const llvm::Twine &message);

  /// Skips blanks, comments and semicolons.
  void skip();
  /// Start of the next token.
  const char *here();
  bool atEnd();
  /// Is `token`, which is punctuation, next? Takes it.
  bool consume(llvm::StringRef token);
  bool peek(llvm::StringRef token);
  bool expect(llvm::StringRef token);
  /// Is the word `name` next? Takes it.
  bool consumeWord(llvm::StringRef name);
  /// The next word: letters, digits, '_' and '.'; empty if there is none.
  llvm::StringRef peekWord();
  llvm::StringRef word();
  bool expectWord(llvm::StringRef name);

  bool integer(int64_t &value);
  /// Of 64 bits, signed or not, as its bit pattern.
  bool wideInteger(int64_t &value);
  bool number(double &value);
  bool string(std::string &value);
  bool dim(Dim &value);
  bool type(TensorType &value);
  /// The text up to the closing `end`, which is taken.
  bool rawUntil(char end, llvm::StringRef &value);

  /// [a, b, ...]: `item` reads one.
  template <class Fn> bool list(Fn item) {
    if (!expect("["))
      return false;
    if (consume("]"))
      return true;
    do
      if (!item())
        return false;
    while (consume(","));
    return expect("]");
  }

private:
  std::string found();
  bool dimSum(Dim &value);
  bool dimProduct(Dim &value);
  bool dimAtom(Dim &value);
  bool dimension(Dim &value);

  llvm::StringRef text;
  const char *failurePlace = nullptr;
  std::string failure;
  unsigned depth = 0;
};

} // namespace dlc
