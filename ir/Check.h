// SPDX-License-Identifier: Apache-2.0
// Checks of our own assumptions. Never for user input.
#pragma once

#include "llvm/Support/raw_ostream.h"
#include <string>

namespace dlc {

/// Called with the message of a failed check before the process ends; the
/// compiler installs one that writes a reproducer.
using CheckHandler = void (*)(const std::string &message);
void setCheckHandler(CheckHandler handler);
[[noreturn]] void checkFailed(const char *file, int line, const char *condition,
                              const std::string &detail);

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
