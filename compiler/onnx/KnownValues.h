// SPDX-License-Identifier: Apache-2.0
// What can be told of a value while a model is being imported.
#pragma once

#include "ir/Constant.h"
#include "ir/Ops.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc {

/// Answers for the values of a module that is under construction: values are
/// added, never changed. Evaluates on demand, and each value once.
class KnownValues {
public:
  explicit KnownValues(const SymbolTable &symbols) : symbols(symbols) {}

  /// The tensor itself, where constants alone determine it and it is not huge.
  std::optional<Constant> constant(Value *value);
  /// The elements as dimension expressions, row-major, of a tensor of at most
  /// 4096 elements whose values are whole numbers. Sees through arithmetic in
  /// floating point that is exact (`floor(cast(N) * 0.5)`).
  std::optional<std::vector<Dim>> dims(Value *value);
  /// dims, where all are numbers.
  std::optional<std::vector<int64_t>> ints(Value *value);

  /// Why a value is not known: `it is computed from the values of input "x"`.
  std::string whyUnknown(Value *value) const;

  /// `d >= bound` for all values of the symbols?
  bool isAtLeast(const Dim &d, int64_t bound) const;
  /// `a <= b` for all values of the symbols?
  bool isAtMost(const Dim &a, const Dim &b) const {
    return isAtLeast(b - a, 0);
  }
  /// max(0, min(d, limit)), simplified by what is known.
  Dim clamp(const Dim &d, const Dim &limit) const;
  Dim atLeast(const Dim &d, int64_t bound) const;

private:
  /// A number `numerator / denominator`, the denominator a positive constant.
  struct Ratio {
    Dim numerator;
    int64_t denominator = 1;
  };
  using Ratios = std::vector<Ratio>;

  std::optional<Constant> evaluate(Op *op, unsigned result);
  std::optional<Ratios> ratios(Value *value, unsigned depth);
  std::optional<Ratios> computeRatios(Op *op, unsigned depth);
  std::optional<Ratio> combine(OpKind kind, const Ratio &a,
                               const Ratio &b) const;
  std::optional<Ratio> apply(const Op *op, const Ratio &a) const;
  std::optional<Constant> compare(Op *op);
  std::optional<Ratios> reduce(Op *op, unsigned depth);

  const SymbolTable &symbols;
  llvm::DenseMap<const Value *, std::optional<Constant>> constants;
  llvm::DenseMap<const Value *, std::optional<Ratios>> ratioCache;
};

} // namespace dlc
