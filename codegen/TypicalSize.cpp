// SPDX-License-Identifier: Apache-2.0
// Sizes that tilings are chosen for where shapes are open.
#include "codegen/TypicalSize.h"

#include <cmath>

using namespace dlc;

int64_t codegen::typicalSize(const Dim &d, const SymbolTable &symbols) {
  std::optional<int64_t> v =
      d.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
        auto it = symbols.find(name);
        if (it == symbols.end())
          return 64;
        int64_t low = std::max<int64_t>(it->second.lower, 1);
        int64_t high = it->second.upper.value_or(low * 64);
        return int64_t(std::sqrt(double(low) * double(std::max(low, high))));
      });
  return std::max<int64_t>(v.value_or(1), 1);
}
