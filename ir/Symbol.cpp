// SPDX-License-Identifier: Apache-2.0
// What follows for expressions from what is known of their symbols.
#include "ir/Symbol.h"

#include "ir/DimBuilder.h"
#include <algorithm>
#include <numeric>

namespace dlc {

namespace {

/// Both ends inclusive; nothing where unbounded.
struct Interval {
  std::optional<int64_t> low, high;
};

/// An end that overflows is unbounded.
std::optional<int64_t> addEnds(std::optional<int64_t> a,
                               std::optional<int64_t> b) {
  int64_t r;
  if (!a || !b || __builtin_add_overflow(*a, *b, &r))
    return std::nullopt;
  return r;
}

Interval multiply(const Interval &a, const Interval &b) {
  auto isZero = [](const Interval &i) {
    return i.low == int64_t(0) && i.high == int64_t(0);
  };
  if (isZero(a) || isZero(b))
    return {0, 0};
  Interval result;
  if (a.low && a.high && b.low && b.high) {
    int64_t ends[4];
    if (!__builtin_mul_overflow(*a.low, *b.low, &ends[0]) &&
        !__builtin_mul_overflow(*a.low, *b.high, &ends[1]) &&
        !__builtin_mul_overflow(*a.high, *b.low, &ends[2]) &&
        !__builtin_mul_overflow(*a.high, *b.high, &ends[3]))
      return {*std::min_element(ends, ends + 4),
              *std::max_element(ends, ends + 4)};
  }
  // With an open end only signs help.
  auto isPositive = [](const Interval &i) { return i.low && *i.low >= 0; };
  auto isNegative = [](const Interval &i) { return i.high && *i.high <= 0; };
  int64_t r;
  if (isPositive(a) && isPositive(b)) {
    result.low = __builtin_mul_overflow(*a.low, *b.low, &r) ? 0 : r;
    if (a.high && b.high && !__builtin_mul_overflow(*a.high, *b.high, &r))
      result.high = r;
  } else if (isPositive(a) && isNegative(b)) {
    result.high = __builtin_mul_overflow(*a.low, *b.high, &r) ? 0 : r;
    if (a.high && b.low && !__builtin_mul_overflow(*a.high, *b.low, &r))
      result.low = r;
  } else if (isNegative(a) && isPositive(b)) {
    return multiply(b, a);
  } else if (isNegative(a) && isNegative(b)) {
    result.low = __builtin_mul_overflow(*a.high, *b.high, &r) ? 0 : r;
  }
  return result;
}

Interval rangeOf(const Dim &d, const SymbolTable &symbols);

Interval symbolRange(llvm::StringRef name, const SymbolTable &symbols) {
  auto it = symbols.find(name.str());
  if (it == symbols.end())
    return {};
  const Symbol &s = it->second;
  Interval result{s.lower, s.upper};
  if (s.bound) {
    // A bound in terms of the symbol itself would not end.
    bool circular = false;
    s.bound->forEachSymbol([&](llvm::StringRef n) { circular |= n == name; });
    std::optional<int64_t> high =
        circular ? std::nullopt : rangeOf(*s.bound, symbols).high;
    if (high && (!result.high || *high < *result.high))
      result.high = high;
  }
  return result;
}

Interval divisionRange(const Dim &d, const SymbolTable &symbols) {
  Interval a = rangeOf(d.operands()[0], symbols);
  Interval b = rangeOf(d.operands()[1], symbols);
  bool ceil = d.kind() == Dim::Kind::CeilDiv;
  auto divide = [&](int64_t x, int64_t y) {
    return (ceil ? ceilDiv(x, y) : floorDiv(x, y)).tryConstant();
  };
  Interval result;
  if (!b.low || *b.low <= 0)
    return result;
  // Divisors from b.low up, to b.high or without end.
  if (a.low && *a.low < 0)
    result.low = divide(*a.low, *b.low);
  else if (a.low)
    result.low = b.high ? divide(*a.low, *b.high) : 0;
  if (a.high && *a.high >= 0)
    result.high = divide(*a.high, *b.low);
  else if (a.high)
    result.high = b.high ? divide(*a.high, *b.high) : std::optional<int64_t>(0);
  return result;
}

Interval modRange(const Dim &d, const SymbolTable &symbols) {
  Interval a = rangeOf(d.operands()[0], symbols);
  Interval b = rangeOf(d.operands()[1], symbols);
  if (!b.low || *b.low <= 0)
    return {};
  if (a.low && a.high && *a.low >= 0 && *a.high < *b.low)
    return a;
  Interval result{0, std::nullopt};
  if (b.high)
    result.high = *b.high - 1;
  if (a.low && *a.low >= 0 && a.high &&
      (!result.high || *a.high < *result.high))
    result.high = a.high;
  return result;
}

Interval extremumRange(const Dim &d, const SymbolTable &symbols) {
  Interval a = rangeOf(d.operands()[0], symbols);
  Interval b = rangeOf(d.operands()[1], symbols);
  bool larger = d.kind() == Dim::Kind::Max;
  auto pick = [larger](std::optional<int64_t> x, std::optional<int64_t> y,
                       bool oneIsEnough) -> std::optional<int64_t> {
    if (x && y)
      return larger ? std::max(*x, *y) : std::min(*x, *y);
    if (!oneIsEnough)
      return std::nullopt;
    return x ? x : y;
  };
  return {pick(a.low, b.low, larger), pick(a.high, b.high, !larger)};
}

Interval rangeOf(const Dim &d, const SymbolTable &symbols) {
  switch (d.kind()) {
  case Dim::Kind::Constant:
    return {d.constant(), d.constant()};
  case Dim::Kind::Symbol:
    return symbolRange(d.symbolName(), symbols);
  case Dim::Kind::FloorDiv:
  case Dim::Kind::CeilDiv:
    return divisionRange(d, symbols);
  case Dim::Kind::Mod:
    return modRange(d, symbols);
  case Dim::Kind::Max:
  case Dim::Kind::Min:
    return extremumRange(d, symbols);
  case Dim::Kind::Overflow:
    return {};
  case Dim::Kind::Add:
  case Dim::Kind::Mul:
    break;
  }
  Interval result = rangeOf(d.operands()[0], symbols);
  for (const Dim &operand : d.operands().drop_front()) {
    Interval next = rangeOf(operand, symbols);
    result = d.kind() == Dim::Kind::Add
                 ? Interval{addEnds(result.low, next.low),
                            addEnds(result.high, next.high)}
                 : multiply(result, next);
  }
  return result;
}

/// Each symbol that counts negatively, replaced by its symbolic bound: not
/// larger than `d`.
Dim replaceByBounds(const Dim &d, const SymbolTable &symbols) {
  Dim result = 0;
  for (const DimTerm &t : DimBuilder::terms(d)) {
    Dim product = t.coefficient;
    for (size_t i = 0; i != t.atoms.size(); ++i) {
      const Dim &atom = t.atoms[i];
      std::optional<Dim> bound;
      if (t.coefficient < 0 && atom.kind() == Dim::Kind::Symbol) {
        auto it = symbols.find(atom.symbolName().str());
        if (it != symbols.end())
          bound = it->second.bound;
      }
      bool othersPositive = true;
      for (size_t j = 0; j != t.atoms.size(); ++j)
        if (j != i)
          othersPositive &= rangeOf(t.atoms[j], symbols).low.value_or(-1) >= 0;
      product = product * (bound && othersPositive ? *bound : atom);
    }
    result = result + product;
  }
  return result;
}

/// 0 <= d < limit for all values of the symbols.
bool isBelow(const Dim &d, const Dim &limit, const SymbolTable &symbols) {
  return isNonNegative(d, symbols) &&
         isNonNegative(limit - Dim(1) - d, symbols);
}

/// floordiv and mod: the parts of the numerator that the divisor divides leave,
/// where what remains is in [0, divisor) after adding whole divisors.
std::optional<DimBuilder::Split> divideWithRanges(const Dim &a, const Dim &b,
                                                  const SymbolTable &symbols) {
  if (!isNonNegative(b - Dim(1), symbols))
    return std::nullopt;
  DimBuilder::Split s = DimBuilder::split(a, b);
  for (int64_t shift : {0, 1, -1}) {
    Dim rest = s.rest + b * Dim(shift);
    if (isBelow(rest, b, symbols))
      return DimBuilder::Split{s.quotient - Dim(shift), rest};
  }
  return std::nullopt;
}

} // namespace

std::optional<int64_t> lowerBound(const Dim &d, const SymbolTable &symbols) {
  return rangeOf(d, symbols).low;
}

std::optional<int64_t> upperBound(const Dim &d, const SymbolTable &symbols) {
  return rangeOf(d, symbols).high;
}

bool isMultipleOf(const Dim &d, int64_t divisor, const SymbolTable &symbols) {
  if (divisor == 1)
    return true;
  if (divisor < 1 || d.overflowed())
    return false;
  for (const DimTerm &t : DimBuilder::terms(d)) {
    // What the coefficient lacks, the atoms must bring.
    int64_t missing = divisor / std::gcd(divisor, t.coefficient % divisor);
    for (const Dim &atom : t.atoms) {
      if (atom.kind() != Dim::Kind::Symbol)
        continue;
      auto it = symbols.find(atom.symbolName().str());
      if (it != symbols.end())
        missing /= std::gcd(missing, it->second.divisor);
    }
    if (missing != 1)
      return false;
  }
  return true;
}

bool isNonNegative(const Dim &d, const SymbolTable &symbols) {
  Dim current = d;
  for (int step = 0; step != 4 && !current.overflowed(); ++step) {
    if (rangeOf(current, symbols).low.value_or(-1) >= 0)
      return true;
    Dim next = replaceByBounds(current, symbols);
    if (next == current)
      return false;
    current = next;
  }
  return false;
}

Dim simplify(const Dim &d, const SymbolTable &symbols) {
  if (d.operands().empty())
    return d;
  llvm::SmallVector<Dim, 4> parts;
  for (const Dim &operand : d.operands())
    parts.push_back(simplify(operand, symbols));
  switch (d.kind()) {
  case Dim::Kind::FloorDiv:
    if (auto s = divideWithRanges(parts[0], parts[1], symbols))
      return s->quotient;
    return floorDiv(parts[0], parts[1]);
  case Dim::Kind::Mod:
    if (auto s = divideWithRanges(parts[0], parts[1], symbols))
      return s->rest;
    return mod(parts[0], parts[1]);
  case Dim::Kind::CeilDiv:
    return ceilDiv(parts[0], parts[1]);
  case Dim::Kind::Max:
  case Dim::Kind::Min: {
    bool larger = d.kind() == Dim::Kind::Max;
    if (isNonNegative(parts[0] - parts[1], symbols))
      return parts[larger ? 0 : 1];
    if (isNonNegative(parts[1] - parts[0], symbols))
      return parts[larger ? 1 : 0];
    return larger ? max(parts[0], parts[1]) : min(parts[0], parts[1]);
  }
  default:
    break;
  }
  Dim result = parts[0];
  for (const Dim &part : llvm::ArrayRef<Dim>(parts).drop_front())
    result = d.kind() == Dim::Kind::Add ? result + part : result * part;
  return result;
}

} // namespace dlc
