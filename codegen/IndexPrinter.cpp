// SPDX-License-Identifier: Apache-2.0
// Prints index expressions (Dim) as C++.
#include "codegen/IndexPrinter.h"

#include "ir/Check.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace dlc;
using namespace dlc::codegen;

Dim IndexPrinter::declare(llvm::StringRef symbol, const Dim &extent,
                          std::function<std::string()> text) {
  Dim d = declareAny(symbol, std::move(text));
  if (extent.isConstant(1))
    d = 0;
  Symbol &s = ranges[symbol.str()];
  s.lower = 0;
  if (std::optional<int64_t> upper = upperBound(extent, ranges))
    s.upper = *upper - 1;
  s.bound = extent - 1;
  return d;
}

Dim IndexPrinter::declareAny(llvm::StringRef symbol,
                             std::function<std::string()> text) {
  Symbol s;
  s.name = symbol.str();
  s.lower = INT64_MIN;
  ranges[symbol.str()] = s;
  texts[symbol.str()] = std::move(text);
  return Dim::symbol(symbol);
}

//===--- Simplification ---------------------------------------------------===//

namespace {
/// A product as a coefficient and its other factors.
struct Term {
  int64_t coefficient = 1;
  llvm::SmallVector<Dim, 4> factors;

  explicit Term(const Dim &d) {
    if (d.isConstant())
      coefficient = d.constant();
    else if (d.kind() != Dim::Kind::Mul)
      factors.push_back(d);
    else
      for (const Dim &f : d.operands())
        if (f.isConstant())
          coefficient *= f.constant();
        else
          factors.push_back(f);
  }
  /// The product divided by `by`, if that leaves a product.
  std::optional<Dim> divided(const Term &by) const {
    if (by.coefficient == 0 || coefficient % by.coefficient != 0)
      return std::nullopt;
    llvm::SmallVector<Dim, 4> left(factors);
    for (const Dim &f : by.factors) {
      auto it = llvm::find(left, f);
      if (it == left.end())
        return std::nullopt;
      left.erase(it);
    }
    Dim product = coefficient / by.coefficient;
    for (const Dim &f : left)
      product = product * f;
    return product;
  }
};

llvm::SmallVector<Dim, 4> termsOf(const Dim &d) {
  if (d.kind() == Dim::Kind::Add)
    return llvm::SmallVector<Dim, 4>(d.operands().begin(), d.operands().end());
  return {d};
}

/// x / c and the terms of x that c divides, taken apart.
struct Split {
  Dim quotient = 0, rest = 0;
};
Split splitMultiples(const Dim &x, const Dim &c) {
  Split s;
  Term divisor(c);
  for (const Dim &t : termsOf(x))
    if (std::optional<Dim> q = Term(t).divided(divisor))
      s.quotient = s.quotient + *q;
    else
      s.rest = s.rest + t;
  return s;
}

Dim joinQuotients(const Dim &x, const Dim &c);

/// d where `term` is factor * mod(x, d).
std::optional<Dim> modulusOf(const Dim &term, const Dim &factor, const Dim &x) {
  for (const Dim &f : Term(term).factors)
    if (f.kind() == Dim::Kind::Mod && f.operands()[0] == x &&
        factor * f == term)
      return f.operands()[1];
  return std::nullopt;
}

/// k * mod(x, c) + k * c * floordiv(x, c) is k * x, and
/// k * mod(x, c) + k * c * mod(floordiv(x, c), d) is k * mod(x, c * d).
Dim recombine(const Dim &sum) {
  llvm::SmallVector<Dim, 4> terms = termsOf(sum);
  for (size_t i = 0; i < terms.size(); i++) {
    Term t(terms[i]);
    for (const Dim &f : t.factors) {
      if (f.kind() != Dim::Kind::Mod)
        continue;
      const Dim &x = f.operands()[0], &c = f.operands()[1];
      std::optional<Dim> k = t.divided(Term(f));
      Dim quotient = joinQuotients(x, c), partner = *k * c * quotient;
      for (size_t j = 0; j < terms.size(); j++) {
        if (j == i)
          continue;
        Dim joined = *k * x;
        if (terms[j] != partner) {
          // The other form: terms[j] = k * c * mod(quotient, d).
          std::optional<Dim> d = modulusOf(terms[j], *k * c, quotient);
          if (!d)
            continue;
          joined = *k * mod(x, c * *d);
        }
        for (size_t m = 0; m < terms.size(); m++)
          if (m != i && m != j)
            joined = joined + terms[m];
        return recombine(joined);
      }
    }
  }
  return sum;
}

/// floordiv(floordiv(x, a), c) is floordiv(x, a * c).
Dim joinQuotients(const Dim &x, const Dim &c) {
  if (x.kind() == Dim::Kind::FloorDiv)
    return joinQuotients(x.operands()[0], x.operands()[1] * c);
  return floorDiv(x, c);
}
} // namespace

int64_t IndexPrinter::knownDivisor(const Dim &d) const {
  llvm::ArrayRef<Dim> ops = d.operands();
  switch (d.kind()) {
  case Dim::Kind::Constant:
    return d.constant() == INT64_MIN ? 1 : std::abs(d.constant());
  case Dim::Kind::Symbol: {
    auto it = ranges.find(d.symbolName());
    return it == ranges.end() ? 1 : it->second.divisor;
  }
  case Dim::Kind::Mul: {
    int64_t product = 1;
    for (const Dim &o : ops)
      // Only small factors matter; no overflow.
      if (int64_t k = knownDivisor(o); k == 0)
        return 0;
      else if (k < (int64_t(1) << 20) && product < (int64_t(1) << 40))
        product *= k;
    return product;
  }
  case Dim::Kind::FloorDiv:
    if (std::optional<int64_t> c = ops[1].tryConstant(); c && *c > 0)
      if (int64_t k = knownDivisor(ops[0]); k % *c == 0)
        return k / *c;
    return 1;
  case Dim::Kind::Add:
  case Dim::Kind::Mod:
  case Dim::Kind::Max:
  case Dim::Kind::Min: {
    int64_t common = 0;
    for (const Dim &o : ops)
      common = std::gcd(common, knownDivisor(o));
    return common;
  }
  default:
    return 1;
  }
}

bool IndexPrinter::isNonNegative(const Dim &d) const {
  return dlc::isNonNegative(d, ranges);
}

bool IndexPrinter::isBelow(const Dim &d, const Dim &bound) const {
  if (std::optional<int64_t> upper = upperBound(d, ranges))
    if (bound.isConstant() && *upper < bound.constant())
      return true;
  return dlc::isNonNegative(bound - 1 - d, ranges);
}

Dim IndexPrinter::simplify(const Dim &d) const {
  if (d.isConstant() || d.kind() == Dim::Kind::Symbol || d.overflowed())
    return d;
  llvm::SmallVector<Dim, 4> ops;
  for (const Dim &o : d.operands())
    ops.push_back(simplify(o));
  switch (d.kind()) {
  case Dim::Kind::Add: {
    Dim sum = 0;
    for (const Dim &o : ops)
      sum = sum + o;
    return recombine(sum);
  }
  case Dim::Kind::Mul: {
    Dim product = 1;
    for (const Dim &o : ops)
      product = product * o;
    return product;
  }
  case Dim::Kind::FloorDiv: {
    Split s = splitMultiples(ops[0], ops[1]);
    if (isNonNegative(s.rest) && isBelow(s.rest, ops[1]))
      return s.quotient;
    return s.quotient + joinQuotients(s.rest, ops[1]);
  }
  case Dim::Kind::Mod: {
    Split s = splitMultiples(ops[0], ops[1]);
    if (isNonNegative(s.rest) && isBelow(s.rest, ops[1]))
      return s.rest;
    return mod(s.rest, ops[1]);
  }
  case Dim::Kind::CeilDiv:
    return ceilDiv(ops[0], ops[1]);
  case Dim::Kind::Max:
    return max(ops[0], ops[1]);
  case Dim::Kind::Min:
    return min(ops[0], ops[1]);
  default:
    return d;
  }
}

//===--- Printing ---------------------------------------------------------===//

std::string IndexPrinter::print(const Dim &d, int precedence) {
  auto wrap = [&](std::string text, int own) {
    return own < precedence ? "(" + text + ")" : text;
  };
  auto call = [&](const char *name) {
    return std::string(name) + "<Index>(" + print(d.operands()[0], 0) + ", " +
           print(d.operands()[1], 0) + ")";
  };
  switch (d.kind()) {
  case Dim::Kind::Constant:
    return wrap(std::to_string(d.constant()), d.constant() < 0 ? 1 : 3);
  case Dim::Kind::Symbol: {
    auto it = texts.find(d.symbolName());
    return it != texts.end() ? it->second() : parameter(d.symbolName());
  }
  case Dim::Kind::Add: {
    std::string text;
    for (const Dim &t : d.operands()) {
      Term term(t);
      bool minus = term.coefficient < 0;
      if (text.empty())
        text = print(t, 1);
      else
        text += (minus ? " - " : " + ") + print(minus ? t * -1 : t, 2);
    }
    return wrap(text, 1);
  }
  case Dim::Kind::Mul: {
    std::string text;
    for (const Dim &f : d.operands())
      text += (text.empty() ? "" : " * ") + print(f, text.empty() ? 2 : 3);
    return wrap(text, 2);
  }
  case Dim::Kind::FloorDiv:
  case Dim::Kind::Mod: {
    bool division = d.kind() == Dim::Kind::FloorDiv;
    if (!isNonNegative(d.operands()[0]))
      return call(division ? "floor_div" : "floor_mod");
    return wrap(print(d.operands()[0], 2) + (division ? " / " : " % ") +
                    print(d.operands()[1], 3),
                2);
  }
  case Dim::Kind::CeilDiv:
    return call("ceil_div");
  case Dim::Kind::Max:
    return call("index_max");
  case Dim::Kind::Min:
    return call("index_min");
  default:
    DLC_CHECK(false) << "an index expression that overflows: " << d.str();
  }
  return "";
}
