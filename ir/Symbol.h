// SPDX-License-Identifier: Apache-2.0
// Symbols of a module: what is known of each named dimension.
#pragma once

#include "ir/Dim.h"
#include <map>

namespace dlc {

/// Where the value of a symbol comes from at run time.
enum class SymbolHome : uint8_t {
  HostArgument, ///< read from an input's shape
  DeviceCell    ///< a count that a kernel computes
};

struct Symbol {
  std::string name;
  SymbolHome home = SymbolHome::HostArgument;
  int64_t lower = 0;            ///< smallest value
  std::optional<int64_t> upper; ///< largest value
  int64_t divisor = 1;          ///< always a multiple of this
  std::optional<Dim> bound;     ///< upper bound as an expression (device cells)
};

/// Symbols by name, in a stable order.
using SymbolTable = std::map<std::string, Symbol, std::less<>>;

/// Bounds of `d` given what the table says; nothing where unbounded.
std::optional<int64_t> lowerBound(const Dim &d, const SymbolTable &symbols);
std::optional<int64_t> upperBound(const Dim &d, const SymbolTable &symbols);
/// Are all of its symbols sizes of inputs?
bool isKnownToHost(const Dim &d, const SymbolTable &symbols);
/// An expression of sizes of inputs that `d` never exceeds; nothing where a
/// count in it has no bound. What it is for: buffers and grids of what a kernel
/// counts.
std::optional<Dim> hostBound(const Dim &d, const SymbolTable &symbols);
/// Is `d` a multiple of `divisor` for all values of the symbols?
bool isMultipleOf(const Dim &d, int64_t divisor, const SymbolTable &symbols);

/// Is `d` >= 0 for all values of the symbols? Uses their bounds, symbolic ones
/// (`bound`) too. False: not proved.
bool isNonNegative(const Dim &d, const SymbolTable &symbols);
/// The same value in fewer operations, given the ranges: floordiv(a*k + b, k)
/// is a and mod(a*k + b, k) is b where 0 <= b < k; max and min that are
/// decided.
Dim simplify(const Dim &d, const SymbolTable &symbols);

} // namespace dlc
