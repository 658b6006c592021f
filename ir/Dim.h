// SPDX-License-Identifier: Apache-2.0
// Integer expressions over symbols: sizes of dimensions, and indices.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace dlc {

/// An i64 expression in canonical form: a sum of integer multiples of products
/// of atoms (symbols, floordiv, ceildiv, mod, max, min of expressions). Equal
/// expressions compare equal when canonicalisation finds them so. A value type.
/// Text: `64`, `"N"`, `2*"N"+1`, `ceildiv("W", 2)`; symbols are quoted.
/// Constant arithmetic that overflows i64 gives an expression for which
/// `overflowed()` holds; it evaluates to nothing.
class Dim {
public:
  enum class Kind : uint8_t {
    Constant,
    Symbol,
    Add,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Max,
    Min,
    Overflow
  };

  Dim(int64_t value = 0);
  static Dim symbol(llvm::StringRef name);

  Kind kind() const;
  bool isConstant() const { return kind() == Kind::Constant; }
  bool isConstant(int64_t value) const {
    return isConstant() && constant() == value;
  }
  int64_t constant() const;
  std::optional<int64_t> tryConstant() const;
  bool overflowed() const { return kind() == Kind::Overflow; }
  /// For Kind::Symbol.
  llvm::StringRef symbolName() const;
  /// Operands of Add, Mul (two or more, canonical order, a constant last) and
  /// of the binary kinds.
  llvm::ArrayRef<Dim> operands() const;

  friend Dim operator+(const Dim &a, const Dim &b);
  friend Dim operator-(const Dim &a, const Dim &b);
  friend Dim operator*(const Dim &a, const Dim &b);
  friend bool operator==(const Dim &a, const Dim &b);
  friend bool operator!=(const Dim &a, const Dim &b) { return !(a == b); }
  /// A total order, stable from run to run.
  static int compare(const Dim &a, const Dim &b);

  /// Value when each symbol has the value that `lookup` gives; nothing when a
  /// symbol is unknown, on division by zero or overflow.
  std::optional<int64_t> evaluate(
      llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) const;
  Dim substitute(
      llvm::function_ref<std::optional<Dim>(llvm::StringRef)> lookup) const;
  /// Calls `fn` once per distinct symbol, in order of first appearance.
  void forEachSymbol(llvm::function_ref<void(llvm::StringRef)> fn) const;

  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  struct Node;

private:
  explicit Dim(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  std::shared_ptr<const Node> node; // null: `value` is the constant
  int64_t value = 0;
  friend struct DimBuilder;
};

/// Rounds toward minus infinity; b is positive where it is known.
Dim floorDiv(const Dim &a, const Dim &b);
Dim ceilDiv(const Dim &a, const Dim &b);
/// Result has the sign of b, as in floorDiv.
Dim mod(const Dim &a, const Dim &b);
Dim max(const Dim &a, const Dim &b);
Dim min(const Dim &a, const Dim &b);

using Shape = llvm::SmallVector<Dim, 4>;

/// Product of all dimensions; 1 for rank 0.
Dim elementCount(llvm::ArrayRef<Dim> shape);
inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Dim &d) {
  d.print(os);
  return os;
}

/// Three-valued answer of a question about expressions.
enum class Proof : uint8_t { Refuted, Unknown, Proved };
inline Proof proof(bool b) { return b ? Proof::Proved : Proof::Refuted; }
Proof operator&&(Proof a, Proof b);
Proof provedEqual(const Dim &a, const Dim &b);

} // namespace dlc
