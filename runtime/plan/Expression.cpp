// SPDX-License-Identifier: Apache-2.0
// Building and evaluating the plan's pool of symbol expressions.
#include "runtime/plan/Expression.h"

#include <algorithm>

using namespace dlc::plan;

const char *dlc::plan::elementName(ElementType type) {
  static constexpr const char *kNames[] = {
      "bool", "i8",   "i16", "i32", "i64",    "u8",     "u16", "u32", "u64",
      "f16",  "bf16", "f32", "f64", "f8e4m3", "f8e5m2", "i4",  "u4"};
  size_t index = size_t(type);
  return index < std::size(kNames) ? kNames[index] : "?";
}

static std::optional<int64_t> floorDiv(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

std::optional<int64_t> dlc::plan::apply(ExpressionOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
  case ExpressionOp::Add:
    if (__builtin_add_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case ExpressionOp::Sub:
    if (__builtin_sub_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case ExpressionOp::Mul:
    if (__builtin_mul_overflow(a, b, &result))
      return std::nullopt;
    return result;
  case ExpressionOp::FloorDiv:
    return floorDiv(a, b);
  case ExpressionOp::CeilDiv: {
    std::optional<int64_t> quotient = floorDiv(a, b);
    // A remainder means |b| > 1, so the quotient is far from the limits.
    return quotient && a % b != 0 ? std::optional(*quotient + 1) : quotient;
  }
  case ExpressionOp::Mod: {
    if (b == 0)
      return std::nullopt;
    if (b == -1)
      return 0;
    int64_t remainder = a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b
                                                        : remainder;
  }
  case ExpressionOp::Min:
    return std::min(a, b);
  case ExpressionOp::Max:
    return std::max(a, b);
  case ExpressionOp::Const:
  case ExpressionOp::Symbol:
    return std::nullopt;
  }
  return std::nullopt;
}

void ExpressionValues::evaluate(std::span<const Expression> pool,
                                std::span<const int64_t> symbols) {
  Values.assign(pool.size(), 0);
  Valid.assign(pool.size(), 0);
  for (size_t i = 0; i < pool.size(); i++) {
    const Expression &node = pool[i];
    std::optional<int64_t> value;
    if (node.op() == ExpressionOp::Const)
      value = node.value();
    else if (node.op() == ExpressionOp::Symbol) {
      if (uint64_t(node.value()) < symbols.size())
        value = symbols[size_t(node.value())];
    } else if (node.a() < i && node.b() < i && Valid[node.a()] &&
               Valid[node.b()])
      value = apply(node.op(), Values[node.a()], Values[node.b()]);
    if (!value)
      continue;
    Values[i] = *value;
    Valid[i] = 1;
  }
}

std::vector<bool> dlc::plan::symbolsOf(std::span<const Expression> pool,
                                       uint32_t index, size_t symbols) {
  std::vector<bool> used(symbols), reached(pool.size());
  if (index >= pool.size())
    return used;
  reached[index] = true;
  // Operands stand before their user, so one backward walk reaches them all.
  for (size_t i = index + 1; i-- > 0;) {
    const Expression &node = pool[i];
    if (!reached[i] || node.op() == ExpressionOp::Const)
      continue;
    if (node.op() == ExpressionOp::Symbol) {
      if (uint64_t(node.value()) < symbols)
        used[size_t(node.value())] = true;
      continue;
    }
    if (node.a() < i)
      reached[node.a()] = true;
    if (node.b() < i)
      reached[node.b()] = true;
  }
  return used;
}

namespace {

/// Shared operands are printed wherever they are used, so the text of a small
/// pool may be endless: after `Left` nodes it says "...".
class Printer {
public:
  Printer(std::span<const Expression> pool,
          const std::vector<std::string> &names)
      : Pool(pool), Names(names) {}

  std::string print(uint32_t index) {
    if (index >= Pool.size())
      return "?";
    if (Left == 0)
      return "...";
    Left--;
    const Expression &node = Pool[index];
    if (node.op() == ExpressionOp::Const)
      return std::to_string(node.value());
    if (node.op() == ExpressionOp::Symbol)
      return uint64_t(node.value()) < Names.size() ? Names[size_t(node.value())]
                                                   : "?";
    if (node.a() >= index || node.b() >= index)
      return "?";
    switch (node.op()) {
    case ExpressionOp::Add:
      return infix(node, " + ");
    case ExpressionOp::Sub:
      return infix(node, " - ");
    case ExpressionOp::Mul:
      return infix(node, "*");
    case ExpressionOp::FloorDiv:
      return call(node, "floordiv");
    case ExpressionOp::CeilDiv:
      return call(node, "ceildiv");
    case ExpressionOp::Mod:
      return call(node, "mod");
    case ExpressionOp::Min:
      return call(node, "min");
    case ExpressionOp::Max:
      return call(node, "max");
    default:
      return "?";
    }
  }

private:
  std::string operand(uint32_t index) {
    std::string text = print(index);
    ExpressionOp op = Pool[index].op();
    bool isSum = op == ExpressionOp::Add || op == ExpressionOp::Sub;
    return isSum ? "(" + text + ")" : text;
  }
  std::string infix(const Expression &node, const char *sign) {
    std::string left = operand(node.a());
    return left + sign + operand(node.b());
  }
  std::string call(const Expression &node, const char *name) {
    std::string left = print(node.a());
    return std::string(name) + "(" + left + "," + print(node.b()) + ")";
  }

  std::span<const Expression> Pool;
  const std::vector<std::string> &Names;
  int Left = 100;
};

} // namespace

std::string dlc::plan::print(std::span<const Expression> pool, uint32_t index,
                             const std::vector<std::string> &names) {
  return Printer(pool, names).print(index);
}

ExpressionPool::ExpressionPool(std::vector<Expression> &pool) : Pool(pool) {
  for (size_t i = 0; i < pool.size(); i++)
    Known.try_emplace(
        {uint8_t(pool[i].op()), pool[i].a(), pool[i].b(), pool[i].value()},
        uint32_t(i));
}

uint32_t ExpressionPool::intern(ExpressionOp op, uint32_t a, uint32_t b,
                                int64_t value) {
  auto [place, isNew] =
      Known.try_emplace({uint8_t(op), a, b, value}, uint32_t(Pool.size()));
  if (isNew)
    Pool.emplace_back(op, a, b, value);
  return place->second;
}

uint32_t ExpressionPool::constant(int64_t value) {
  return intern(ExpressionOp::Const, 0, 0, value);
}

uint32_t ExpressionPool::symbol(uint32_t index) {
  return intern(ExpressionOp::Symbol, 0, 0, index);
}

uint32_t ExpressionPool::binary(ExpressionOp op, uint32_t a, uint32_t b) {
  auto constantOf = [&](uint32_t i) -> std::optional<int64_t> {
    if (Pool[i].op() != ExpressionOp::Const)
      return std::nullopt;
    return Pool[i].value();
  };
  std::optional<int64_t> left = constantOf(a), right = constantOf(b);
  if (left && right)
    if (std::optional<int64_t> value = apply(op, *left, *right))
      return constant(*value);
  bool isSum = op == ExpressionOp::Add || op == ExpressionOp::Sub;
  bool isProduct = op == ExpressionOp::Mul || op == ExpressionOp::FloorDiv ||
                   op == ExpressionOp::CeilDiv;
  if ((isSum && right == 0) || (isProduct && right == 1))
    return a;
  if ((op == ExpressionOp::Add && left == 0) ||
      (op == ExpressionOp::Mul && left == 1))
    return b;
  return intern(op, a, b, 0);
}
