// SPDX-License-Identifier: Apache-2.0
// The canonical form of dimension expressions.
//
// A sum is kept as terms: a coefficient times a sorted product of atoms. Like
// terms merge, products distribute. A division or remainder by a constant c
// gives up all that c divides:
//   floordiv(c*q + r, c)       = q + floordiv(r, c)
//   mod(c*q + r, c)            = mod(r, c)
//   floordiv(g*y + k, g*c)     = floordiv(y + floor(k/g), c)
//   mod(g*y + g*q + k, g*c)    = g*mod(y + q, c) + k          0 <= k < g
//   floordiv(floordiv(x, a) + k, b) = floordiv(x + a*k, a*b)
//   floordiv(mod(x, a*b), b)   = mod(floordiv(x, b), a)
//   mod(mod(x, a*b), b)        = mod(x, b)
//   c*floordiv(x, c) + mod(x, c) = x
//   ceildiv(x, c)              = floordiv(x + c - 1, c)
// Divisors are positive: sizes, strides and tiles.
#include "ir/DimBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace dlc {

namespace {

constexpr size_t maxTerms = 64; // above it a product of two sums stays as it is

bool addOverflow(int64_t a, int64_t b, int64_t &r) {
  return __builtin_add_overflow(a, b, &r);
}
bool mulOverflow(int64_t a, int64_t b, int64_t &r) {
  return __builtin_mul_overflow(a, b, &r);
}

/// Nothing on division by zero or overflow.
std::optional<int64_t> floorDivConstant(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == INT64_MIN))
    return std::nullopt;
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

int compareAtoms(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b) {
  for (size_t i = 0; i != std::min(a.size(), b.size()); ++i)
    if (int c = Dim::compare(a[i], b[i]))
      return c;
  // The empty product, a constant, comes last.
  return a.size() > b.size() ? -1 : a.size() < b.size();
}

/// Merges like terms and drops zeros; false on overflow.
bool mergeTerms(std::vector<DimTerm> &terms) {
  llvm::stable_sort(terms, [](const DimTerm &a, const DimTerm &b) {
    return compareAtoms(a.atoms, b.atoms) < 0;
  });
  size_t out = 0;
  for (size_t i = 0; i != terms.size();) {
    DimTerm merged = std::move(terms[i++]);
    while (i != terms.size() && terms[i].atoms == merged.atoms)
      if (addOverflow(merged.coefficient, terms[i++].coefficient,
                      merged.coefficient))
        return false;
    if (merged.coefficient != 0)
      terms[out++] = std::move(merged);
  }
  terms.resize(out);
  return true;
}

Dim termToDim(const DimTerm &t) {
  if (t.atoms.empty())
    return t.coefficient;
  if (t.atoms.size() == 1 && t.coefficient == 1)
    return t.atoms[0];
  llvm::SmallVector<Dim, 4> factors(t.atoms.begin(), t.atoms.end());
  if (t.coefficient != 1)
    factors.push_back(t.coefficient);
  return DimBuilder::node(Dim::Kind::Mul, factors);
}

/// c*floordiv(x, c) + mod(x, c) = x, where both stand in the sum with the same
/// cofactor. Returns whether it changed the terms.
bool joinDivisions(std::vector<DimTerm> &terms) {
  for (size_t i = 0; i != terms.size(); ++i) {
    const DimTerm &m = terms[i];
    for (size_t a = 0; a != m.atoms.size(); ++a) {
      if (m.atoms[a].kind() != Dim::Kind::Mod)
        continue;
      Dim x = m.atoms[a].operands()[0], c = m.atoms[a].operands()[1];
      llvm::SmallVector<Dim, 2> cofactor(m.atoms);
      cofactor.erase(cofactor.begin() + a);
      Dim wanted =
          DimBuilder::sum({{cofactor, m.coefficient}}) * c * floorDiv(x, c);
      std::vector<DimTerm> wantedTerms = DimBuilder::terms(wanted);
      if (wantedTerms.size() != 1)
        continue;
      for (size_t j = 0; j != terms.size(); ++j) {
        if (j == i || terms[j].atoms != wantedTerms[0].atoms ||
            terms[j].coefficient != wantedTerms[0].coefficient)
          continue;
        Dim joined = DimBuilder::sum({{cofactor, m.coefficient}}) * x;
        terms.erase(terms.begin() + std::max(i, j));
        terms.erase(terms.begin() + std::min(i, j));
        llvm::append_range(terms, DimBuilder::terms(joined));
        return true;
      }
    }
  }
  return false;
}

/// The quotient of two terms, if the second divides the first. The coefficient
/// divides with what is left over staying behind: truncated.
std::optional<DimTerm> divideTerm(const DimTerm &a, const DimTerm &b) {
  int64_t q = a.coefficient / b.coefficient;
  if (q == 0)
    return std::nullopt;
  DimTerm result{{}, q};
  size_t i = 0;
  for (const Dim &atom : a.atoms) {
    if (i != b.atoms.size() && atom == b.atoms[i])
      ++i;
    else
      result.atoms.push_back(atom);
  }
  if (i != b.atoms.size())
    return std::nullopt;
  return result;
}

/// The exact quotient of a by a sum b, or nothing.
std::optional<Dim> divideExactly(Dim a, const Dim &b) {
  // Leading terms by degree, then by order of atoms: an order that products
  // respect, so that the division ends.
  auto leading = [](const std::vector<DimTerm> &terms) {
    const DimTerm *best = &terms[0];
    for (const DimTerm &t : terms)
      if (t.atoms.size() > best->atoms.size() ||
          (t.atoms.size() == best->atoms.size() &&
           compareAtoms(t.atoms, best->atoms) < 0))
        best = &t;
    return *best;
  };
  DimTerm divisor = leading(DimBuilder::terms(b));
  Dim quotient = 0;
  for (size_t steps = 0; steps != maxTerms; ++steps) {
    if (a.isConstant(0))
      return quotient;
    if (a.overflowed())
      return std::nullopt;
    DimTerm top = leading(DimBuilder::terms(a));
    if (top.coefficient % divisor.coefficient != 0)
      return std::nullopt;
    std::optional<DimTerm> q = divideTerm(top, divisor);
    if (!q)
      return std::nullopt;
    Dim part = DimBuilder::sum({*q});
    quotient = quotient + part;
    a = a - part * b;
  }
  return std::nullopt;
}

/// gcd of c and the coefficients of all terms but the constant one.
int64_t commonDivisor(const std::vector<DimTerm> &terms, int64_t c) {
  int64_t g = c;
  for (const DimTerm &t : terms)
    if (!t.atoms.empty() && t.coefficient != INT64_MIN)
      g = std::gcd(g, t.coefficient);
    else if (!t.atoms.empty())
      return 1;
  return g;
}

int64_t constantTerm(const std::vector<DimTerm> &terms) {
  return !terms.empty() && terms.back().atoms.empty() ? terms.back().coefficient
                                                      : 0;
}

/// Divides all terms by g, the constant one rounded down.
Dim divideTerms(std::vector<DimTerm> terms, int64_t g) {
  for (DimTerm &t : terms)
    t.coefficient = *floorDivConstant(t.coefficient, g);
  return DimBuilder::sum(std::move(terms));
}

/// `d` as atom + constant with an atom of `kind` over a positive constant.
struct AtomPlus {
  Dim x;
  int64_t divisor, constant;
};
std::optional<AtomPlus> matchAtomPlus(const Dim &d, Dim::Kind kind) {
  std::vector<DimTerm> terms = DimBuilder::terms(d);
  if (terms.empty() || terms.size() > 2 || terms[0].coefficient != 1 ||
      terms[0].atoms.size() != 1 || terms[0].atoms[0].kind() != kind ||
      (terms.size() == 2 && !terms[1].atoms.empty()))
    return std::nullopt;
  llvm::ArrayRef<Dim> operands = terms[0].atoms[0].operands();
  std::optional<int64_t> c = operands[1].tryConstant();
  if (!c || *c <= 0)
    return std::nullopt;
  return AtomPlus{operands[0], *c, constantTerm(terms)};
}

/// floordiv of what is left after the split, by a constant above 1.
Dim floorDivRest(const Dim &rest, int64_t c) {
  std::vector<DimTerm> terms = DimBuilder::terms(rest);
  if (int64_t g = commonDivisor(terms, c); g > 1)
    return floorDiv(divideTerms(terms, g), c / g);
  int64_t product, offset;
  if (auto inner = matchAtomPlus(rest, Dim::Kind::FloorDiv))
    if (!mulOverflow(inner->divisor, c, product) &&
        !mulOverflow(inner->divisor, inner->constant, offset))
      return floorDiv(inner->x + offset, product);
  if (auto inner = matchAtomPlus(rest, Dim::Kind::Mod);
      inner && inner->constant == 0) {
    if (inner->divisor <= c)
      return 0;
    if (inner->divisor % c == 0)
      return mod(floorDiv(inner->x, c), inner->divisor / c);
  }
  return DimBuilder::node(Dim::Kind::FloorDiv, {rest, c});
}

/// mod of what is left after the split, by a constant above 1.
Dim modRest(const Dim &rest, int64_t c) {
  std::vector<DimTerm> terms = DimBuilder::terms(rest);
  if (int64_t g = commonDivisor(terms, c); g > 1) {
    int64_t k = constantTerm(terms);
    int64_t low = k - *floorDivConstant(k, g) * g;
    return mod(divideTerms(terms, g), c / g) * g + low;
  }
  if (auto inner = matchAtomPlus(rest, Dim::Kind::Mod)) {
    if (inner->divisor % c == 0)
      return mod(inner->x + inner->constant, c);
    if (inner->divisor <= c && inner->constant == 0)
      return rest;
  }
  return DimBuilder::node(Dim::Kind::Mod, {rest, c});
}

/// Takes whole multiples of c out of the constant term too: 0 <= it < c.
DimBuilder::Split splitByConstant(const Dim &a, int64_t c) {
  DimBuilder::Split s = DimBuilder::split(a, c);
  int64_t k = constantTerm(DimBuilder::terms(s.rest));
  int64_t q = *floorDivConstant(k, c);
  if (q == 0)
    return s;
  return {s.quotient + q, s.rest - Dim(q) * c};
}

Dim extremum(Dim a, Dim b, bool larger) {
  if (a.overflowed() || b.overflowed())
    return DimBuilder::overflow();
  Dim difference = a - b;
  if (difference.isConstant())
    return (difference.constant() > 0) == larger ? a : b;
  Dim::Kind kind = larger ? Dim::Kind::Max : Dim::Kind::Min;
  if (Dim::compare(b, a) < 0)
    std::swap(a, b);
  for (bool swapped : {false, true}) {
    const Dim &outer = swapped ? b : a, &inner = swapped ? a : b;
    if (outer.kind() == kind && llvm::is_contained(outer.operands(), inner))
      return outer;
  }
  return DimBuilder::node(kind, {a, b});
}

} // namespace

Dim DimBuilder::node(Dim::Kind kind, llvm::ArrayRef<Dim> operands) {
  auto n = std::make_shared<Dim::Node>();
  n->kind = kind;
  n->operands.assign(operands.begin(), operands.end());
  return Dim(std::shared_ptr<const Dim::Node>(std::move(n)));
}

Dim DimBuilder::symbol(llvm::StringRef name) {
  auto n = std::make_shared<Dim::Node>();
  n->kind = Dim::Kind::Symbol;
  n->name = name.str();
  return Dim(std::shared_ptr<const Dim::Node>(std::move(n)));
}

Dim DimBuilder::overflow() { return node(Dim::Kind::Overflow, {}); }

std::vector<DimTerm> DimBuilder::terms(const Dim &d) {
  std::vector<DimTerm> result;
  auto addTerm = [&](const Dim &t) {
    if (std::optional<int64_t> c = t.tryConstant()) {
      if (*c != 0)
        result.push_back({{}, *c});
      return;
    }
    if (t.kind() != Dim::Kind::Mul) {
      result.push_back({{t}, 1});
      return;
    }
    llvm::ArrayRef<Dim> factors = t.operands();
    int64_t coefficient = 1;
    if (factors.back().isConstant()) {
      coefficient = factors.back().constant();
      factors = factors.drop_back();
    }
    result.push_back({{factors.begin(), factors.end()}, coefficient});
  };
  if (d.kind() != Dim::Kind::Add)
    addTerm(d);
  for (const Dim &t :
       d.kind() == Dim::Kind::Add ? d.operands() : llvm::ArrayRef<Dim>())
    addTerm(t);
  return result;
}

Dim DimBuilder::sum(std::vector<DimTerm> terms) {
  do
    if (!mergeTerms(terms))
      return overflow();
  while (joinDivisions(terms));
  if (terms.empty())
    return 0;
  if (terms.size() == 1)
    return termToDim(terms[0]);
  llvm::SmallVector<Dim, 4> parts;
  for (const DimTerm &t : terms)
    parts.push_back(termToDim(t));
  llvm::stable_sort(
      parts, [](const Dim &a, const Dim &b) { return Dim::compare(a, b) < 0; });
  return node(Dim::Kind::Add, parts);
}

DimBuilder::Split DimBuilder::split(const Dim &a, const Dim &b) {
  std::vector<DimTerm> divisor = terms(b);
  if (divisor.size() != 1)
    return {0, a};
  std::vector<DimTerm> quotient, rest;
  for (const DimTerm &t : terms(a)) {
    // lowest / -1 has no quotient; divisors are positive anyway.
    if (divisor[0].coefficient < 0)
      return {0, a};
    if (std::optional<DimTerm> q = divideTerm(t, divisor[0])) {
      int64_t left = t.coefficient % divisor[0].coefficient;
      if (left != 0)
        rest.push_back({t.atoms, left});
      quotient.push_back(std::move(*q));
    } else {
      rest.push_back(t);
    }
  }
  return {sum(std::move(quotient)), sum(std::move(rest))};
}

Dim operator+(const Dim &a, const Dim &b) {
  if (a.overflowed() || b.overflowed())
    return DimBuilder::overflow();
  if (a.isConstant(0))
    return b;
  if (b.isConstant(0))
    return a;
  int64_t c;
  if (a.isConstant() && b.isConstant())
    return addOverflow(a.constant(), b.constant(), c) ? DimBuilder::overflow()
                                                      : Dim(c);
  std::vector<DimTerm> terms = DimBuilder::terms(a);
  llvm::append_range(terms, DimBuilder::terms(b));
  return DimBuilder::sum(std::move(terms));
}

Dim operator-(const Dim &a, const Dim &b) {
  int64_t c;
  if (a.isConstant() && b.isConstant())
    return __builtin_sub_overflow(a.constant(), b.constant(), &c)
               ? DimBuilder::overflow()
               : Dim(c);
  return a + b * Dim(-1);
}

Dim operator*(const Dim &a, const Dim &b) {
  if (a.overflowed() || b.overflowed())
    return DimBuilder::overflow();
  if (a.isConstant(1))
    return b;
  if (b.isConstant(1))
    return a;
  int64_t c;
  if (a.isConstant() && b.isConstant())
    return mulOverflow(a.constant(), b.constant(), c) ? DimBuilder::overflow()
                                                      : Dim(c);
  std::vector<DimTerm> x = DimBuilder::terms(a), y = DimBuilder::terms(b);
  if (x.size() > 1 && y.size() > 1 && x.size() * y.size() > maxTerms) {
    x = {{{a}, 1}};
    y = {{{b}, 1}};
  }
  std::vector<DimTerm> product;
  for (const DimTerm &s : x) {
    for (const DimTerm &t : y) {
      DimTerm p{s.atoms, 0};
      if (mulOverflow(s.coefficient, t.coefficient, p.coefficient))
        return DimBuilder::overflow();
      p.atoms.append(t.atoms.begin(), t.atoms.end());
      llvm::stable_sort(p.atoms, [](const Dim &l, const Dim &r) {
        return Dim::compare(l, r) < 0;
      });
      product.push_back(std::move(p));
    }
  }
  return DimBuilder::sum(std::move(product));
}

/// floorDiv or ceilDiv by a divisor that is no positive constant.
static Dim divideBySymbols(Dim::Kind kind, const Dim &a, const Dim &b) {
  DimBuilder::Split s = DimBuilder::split(a, b);
  if (s.rest.isConstant(0))
    return s.quotient;
  if (b.kind() == Dim::Kind::Add)
    if (std::optional<Dim> q = divideExactly(a, b))
      return *q;
  return s.quotient + DimBuilder::node(kind, {s.rest, b});
}

Dim floorDiv(const Dim &a, const Dim &b) {
  if (a.overflowed() || b.overflowed() || b.isConstant(0))
    return DimBuilder::overflow();
  if (b.isConstant(1) || a.isConstant(0))
    return a;
  if (a.isConstant() && b.isConstant()) {
    std::optional<int64_t> q = floorDivConstant(a.constant(), b.constant());
    return q ? Dim(*q) : DimBuilder::overflow();
  }
  if (std::optional<int64_t> c = b.tryConstant()) {
    if (*c < 0)
      return DimBuilder::node(Dim::Kind::FloorDiv, {a, b});
    DimBuilder::Split s = splitByConstant(a, *c);
    if (s.rest.isConstant())
      return s.quotient;
    return s.quotient + floorDivRest(s.rest, *c);
  }
  return divideBySymbols(Dim::Kind::FloorDiv, a, b);
}

Dim ceilDiv(const Dim &a, const Dim &b) {
  if (a.overflowed() || b.overflowed() || b.isConstant(0))
    return DimBuilder::overflow();
  std::optional<int64_t> c = b.tryConstant();
  if (c && *c > 0)
    return floorDiv(a + (*c - 1), b);
  if (c && a.isConstant()) {
    Dim q = floorDiv(a, b);
    return q * b == a ? q : q + 1;
  }
  return divideBySymbols(Dim::Kind::CeilDiv, a, b);
}

Dim mod(const Dim &a, const Dim &b) {
  if (a.overflowed() || b.overflowed() || b.isConstant(0))
    return DimBuilder::overflow();
  if (b.isConstant(1) || a.isConstant(0))
    return 0;
  std::optional<int64_t> c = b.tryConstant();
  if (c && a.isConstant()) {
    if (*c == -1)
      return 0;
    int64_t r = a.constant() % *c;
    return r != 0 && (r < 0) != (*c < 0) ? r + *c : r;
  }
  if (c && *c < 0)
    return DimBuilder::node(Dim::Kind::Mod, {a, b});
  if (c) {
    Dim rest = splitByConstant(a, *c).rest;
    return rest.isConstant() ? rest : modRest(rest, *c);
  }
  DimBuilder::Split s = DimBuilder::split(a, b);
  if (s.rest.isConstant(0) ||
      (b.kind() == Dim::Kind::Add && divideExactly(a, b)))
    return 0;
  return DimBuilder::node(Dim::Kind::Mod, {s.rest, b});
}

Dim max(const Dim &a, const Dim &b) {
  if (a.isConstant(INT64_MIN) || b.isConstant(INT64_MIN))
    return a.isConstant(INT64_MIN) ? b : a;
  return extremum(a, b, true);
}
Dim min(const Dim &a, const Dim &b) {
  if (a.isConstant(INT64_MAX) || b.isConstant(INT64_MAX))
    return a.isConstant(INT64_MAX) ? b : a;
  return extremum(a, b, false);
}

} // namespace dlc
