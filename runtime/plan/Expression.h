// SPDX-License-Identifier: Apache-2.0
// Building and evaluating the plan's pool of symbol expressions.
#pragma once

#include "runtime/plan/Plan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace dlc::plan {

/// One operation on constants; nothing on overflow, division by zero or an
/// operation that is not binary. floordiv, ceildiv and mod round and sign as
/// in mathematics: floor, ceiling, and the sign of the divisor.
std::optional<int64_t> apply(ExpressionOp op, int64_t a, int64_t b);

/// The values of all expressions of a pool under given symbols.
class ExpressionValues {
public:
  /// Evaluates the pool. A node whose operands do not stand before it, or
  /// whose symbol does not exist, is invalid as an overflowing one is.
  void evaluate(std::span<const Expression> pool,
                std::span<const int64_t> symbols);

  /// The value of a node; nothing when it is invalid or out of range.
  std::optional<int64_t> get(uint32_t index) const {
    if (index >= Values.size() || !Valid[index])
      return std::nullopt;
    return Values[index];
  }

  /// The value, where NONE stands for `none`.
  std::optional<int64_t> getOr(uint32_t index, int64_t none) const {
    return index == kNone ? std::optional<int64_t>(none) : get(index);
  }

private:
  std::vector<int64_t> Values;
  std::vector<uint8_t> Valid;
};

/// Which symbols a node depends on, as marks by symbol index.
std::vector<bool> symbolsOf(std::span<const Expression> pool, uint32_t index,
                            size_t symbols);

/// The node as text, "N*3 + 1"; names are the symbols' names.
std::string print(std::span<const Expression> pool, uint32_t index,
                  const std::vector<std::string> &names);

/// Adds expressions to a plan's pool: equal ones once, constants folded.
class ExpressionPool {
public:
  /// \param pool is appended to and must outlive this object.
  explicit ExpressionPool(std::vector<Expression> &pool);

  uint32_t constant(int64_t value);
  uint32_t symbol(uint32_t index);
  /// Folds constants and the neutral elements of +, -, * and /; an operation
  /// on constants that cannot be folded (overflow) stays as a node.
  uint32_t binary(ExpressionOp op, uint32_t a, uint32_t b);
  uint32_t add(uint32_t a, uint32_t b) {
    return binary(ExpressionOp::Add, a, b);
  }
  uint32_t mul(uint32_t a, uint32_t b) {
    return binary(ExpressionOp::Mul, a, b);
  }

private:
  uint32_t intern(ExpressionOp op, uint32_t a, uint32_t b, int64_t value);

  std::vector<Expression> &Pool;
  std::map<std::tuple<uint8_t, uint32_t, uint32_t, int64_t>, uint32_t> Known;
};

} // namespace dlc::plan
