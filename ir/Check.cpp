// SPDX-License-Identifier: Apache-2.0
// What happens when a check of our own assumptions fails.
#include "ir/Check.h"

#include <atomic>
#include <cstdlib>

namespace dlc {

static std::atomic<CheckHandler> installedHandler{nullptr};

void setCheckHandler(CheckHandler handler) { installedHandler = handler; }

void checkFailed(const char *file, int line, const char *condition,
                 const std::string &detail) {
  std::string message = std::string(file) + ":" + std::to_string(line) +
                        ": internal check failed: " + condition;
  if (!detail.empty())
    message += ": " + detail;
  // Taken out first: a check that fails inside the handler must not recur.
  if (CheckHandler handler = installedHandler.exchange(nullptr))
    handler(message);
  else
    llvm::errs() << message << "\n";
  std::abort();
}

} // namespace dlc
