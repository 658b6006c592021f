// SPDX-License-Identifier: Apache-2.0
// Checks of our own assumptions. Never for user input.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace dlc {

[[noreturn]] void checkFailed(const char *file, int line, const char *condition,
                              const std::string &detail);

/// While it lives, a check that fails on this thread also prints what `advice`
/// gives: how to reproduce the fault. Scopes nest, all of them are asked, the
/// innermost first.
class CheckScope {
public:
  explicit CheckScope(llvm::function_ref<std::string()> advice);
  ~CheckScope();
  CheckScope(const CheckScope &) = delete;

private:
  friend void checkFailed(const char *, int, const char *, const std::string &);
  llvm::function_ref<std::string()> advice;
  const CheckScope *outer;
};

class CheckStream {
public:
  CheckStream(const char *file, int line, const char *condition)
      : file(file), line(line), condition(condition), os(detail) {}
  [[noreturn]] ~CheckStream() { checkFailed(file, line, condition, detail); }
  template <class T> CheckStream &operator<<(const T &v) {
    os << v;
    return *this;
  }

private:
  const char *file;
  int line;
  const char *condition;
  std::string detail;
  llvm::raw_string_ostream os;
};

#define DLC_CHECK(condition)                                                   \
  if (condition) {                                                             \
  } else                                                                       \
    ::dlc::CheckStream(__FILE__, __LINE__, #condition)

} // namespace dlc
