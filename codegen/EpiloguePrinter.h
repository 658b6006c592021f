// SPDX-License-Identifier: Apache-2.0
// Prints what happens to rows of a hero's result: the epilogue and the stores.
#pragma once

#include "codegen/SpaceMap.h"

namespace dlc::codegen {

/// A hero's result as [batch][m][n].
class EpiloguePrinter {
public:
  using Result =
      std::function<Coordinates(const Dim &b, const Dim &m, const Dim &n)>;
  /// \param result the element of the hero's result.
  /// \param computed the type of the sums.
  EpiloguePrinter(KernelBuilder &kernel, const Op &hero, Dim batch, Dim m,
                  Dim n, Result result, DataType computed)
      : kernel(kernel), hero(hero), batch(std::move(batch)), m(std::move(m)),
        n(std::move(n)), result(std::move(result)), computed(computed) {}

  /// Consecutive n, a power of 2 of at most 16 bytes, that all results store as
  /// vectors; 1 if there are none.
  int64_t vectorWidth();
  /// Statements that store v[0 .. vector) from element n on. `loads`, where it
  /// is wanted, gets what comes first and does not depend on v.
  llvm::Error print(int64_t vector, std::string &text,
                    std::string *loads = nullptr);

private:
  llvm::Error printStores(int64_t vector, bool test, std::string &text,
                          std::string *loads);
  KernelBuilder &kernel;
  const Op &hero;
  Dim batch, m, n;
  Result result;
  DataType computed;
};

} // namespace dlc::codegen
