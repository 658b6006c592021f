// SPDX-License-Identifier: Apache-2.0
// Prints `struct Problem`: what the templates of index ops are told.
#pragma once

#include "codegen/KernelBuilder.h"

namespace dlc::codegen {

class ProblemPrinter {
public:
  explicit ProblemPrinter(KernelBuilder &kernel) : kernel(kernel) {}

  void type(llvm::StringRef name, llvm::StringRef type);
  /// `static constexpr type name = value;`
  void constant(llvm::StringRef type, llvm::StringRef name,
                const llvm::Twine &value);
  void flag(llvm::StringRef name, bool value) {
    constant("bool", name, value ? "true" : "false");
  }
  /// `static Index name(const P &p)`.
  void size(llvm::StringRef name, const Dim &value);
  /// `static Index name(const P &p, int d)`, one entry per d.
  void sizes(llvm::StringRef name, llvm::ArrayRef<Dim> values);
  /// `static result name(arguments) { return expression; }`
  void function(llvm::StringRef result, llvm::StringRef name,
                llvm::StringRef arguments, const llvm::Twine &expression);
  /// A pointer to const, or, of a result or workspace, to what is written.
  void pointer(llvm::StringRef element, llvm::StringRef name,
               const llvm::Twine &expression, bool write = false);
  /// The whole struct.
  std::string str() const { return "struct Problem {\n" + text + "};\n"; }

private:
  KernelBuilder &kernel;
  std::string text;
};

/// [outer, length, inner] of `shape` around `axis`.
struct AxisSplit {
  Dim outer, length, inner;
};
AxisSplit splitAt(llvm::ArrayRef<Dim> shape, int64_t axis);

/// A refusal unless every operand and result lies row-major and has device
/// types.
llvm::Error requireRowMajor(const Unit &unit);

/// The only op of a unit as a `T`, row-major all around. Refused with no
/// sentence where it is another op.
template <class T> llvm::Expected<T> takeSole(const Unit &unit) {
  T op = llvm::dyn_cast_or_null<T>(unit.soleOp());
  if (!op)
    return refuse("");
  if (llvm::Error e = requireRowMajor(unit))
    return e;
  return op;
}

/// Blocks for `items`, `perBlock` each, at most what fills a GPU several times
/// (the templates stride over the rest).
Dim blocksFor(const Dim &items, int64_t perBlock);

/// The dimensions `from`..`to` of a shape.
llvm::ArrayRef<Dim> subshape(llvm::ArrayRef<Dim> shape, int64_t from,
                             int64_t to);

} // namespace dlc::codegen
