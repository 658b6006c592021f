// SPDX-License-Identifier: Apache-2.0
// What happens when a check of our own assumptions fails.
#include "ir/Check.h"

#include <cstdlib>
#include <utility>

namespace dlc {

static thread_local const CheckScope *innermost = nullptr;

CheckScope::CheckScope(llvm::function_ref<std::string()> advice)
    : advice(advice), outer(std::exchange(innermost, this)) {}
CheckScope::~CheckScope() { innermost = outer; }

void checkFailed(const char *file, int line, const char *condition,
                 const std::string &detail) {
  llvm::errs() << file << ":" << line
               << ": internal check failed: " << condition;
  if (!detail.empty())
    llvm::errs() << ": " << detail;
  llvm::errs() << "\n";
  // Taken out first: a check that fails while advice is given must not recur.
  for (const CheckScope *scope = std::exchange(innermost, nullptr); scope;
       scope = scope->outer)
    if (std::string text = scope->advice(); !text.empty())
      llvm::errs() << text << "\n";
  std::abort();
}

} // namespace dlc
