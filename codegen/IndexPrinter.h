// SPDX-License-Identifier: Apache-2.0
// Prints index expressions (Dim) as C++.
#pragma once

#include "ir/Symbol.h"
#include <functional>

namespace dlc::codegen {

/// Symbols are the module's (kernel parameters) and coordinates, which are
/// declared here with their ranges. Division is printed as C's where the
/// operand is known not to be negative.
class IndexPrinter {
public:
  /// \param symbols of the module; \param parameter gives the C++ text of one.
  IndexPrinter(const SymbolTable &symbols,
               std::function<std::string(llvm::StringRef)> parameter)
      : ranges(symbols), parameter(std::move(parameter)) {}

  /// Declares a coordinate with values 0 <= symbol < extent; `text` is called
  /// each time it is printed (and may declare the variable first). Zero if that
  /// is the only value.
  Dim declare(llvm::StringRef symbol, const Dim &extent,
              std::function<std::string()> text);
  /// The same without a range.
  Dim declareAny(llvm::StringRef symbol, std::function<std::string()> text);

  /// Says that a declared coordinate is always a multiple of `divisor`.
  void requireMultiple(llvm::StringRef symbol, int64_t divisor) {
    ranges[symbol.str()].divisor = divisor;
  }

  std::string print(const Dim &d) { return print(simplify(d), 0); }
  /// What the ranges of the coordinates allow to drop: x / c and x % c.
  Dim simplify(const Dim &d) const;
  const SymbolTable &symbols() const { return ranges; }
  bool isMultiple(const Dim &d, int64_t divisor) const {
    return knownDivisor(d) % divisor == 0;
  }

  /// Is it known to be so for all coordinates?
  bool isNonNegative(const Dim &d) const;
  bool isBelow(const Dim &d, const Dim &bound) const;

private:
  /// A number that divides all values of `d`; 0 if it is always zero.
  int64_t knownDivisor(const Dim &d) const;
  std::string print(const Dim &d, int precedence);
  SymbolTable ranges;
  std::map<std::string, std::function<std::string()>, std::less<>> texts;
  std::function<std::string(llvm::StringRef)> parameter;
};

} // namespace dlc::codegen
