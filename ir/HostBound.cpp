// SPDX-License-Identifier: Apache-2.0
// What the host can say of a size that a kernel counts: the most it can be.
#include "ir/DimBuilder.h"
#include "ir/Symbol.h"
#include "llvm/ADT/STLExtras.h"

namespace dlc {

namespace {

std::optional<Dim> ofAtom(const Dim &d, const SymbolTable &symbols);

/// A product of factors that are not negative grows with each of them.
std::optional<Dim> ofTerm(const DimTerm &term, const SymbolTable &symbols) {
  Dim product = term.coefficient;
  for (const Dim &atom : term.atoms) {
    const std::optional<int64_t> low = lowerBound(atom, symbols);
    if (!low || *low < 0)
      return std::nullopt;
    std::optional<Dim> end = term.coefficient < 0 ? std::optional(Dim(*low))
                             : isKnownToHost(atom, symbols)
                                 ? atom
                                 : ofAtom(atom, symbols);
    if (!end)
      return std::nullopt;
    product = product * *end;
  }
  return product;
}

std::optional<Dim> ofAtom(const Dim &d, const SymbolTable &symbols) {
  auto operand = [&](size_t i) { return hostBound(d.operands()[i], symbols); };
  auto divisor = [&]() -> std::optional<Dim> {
    const Dim &b = d.operands()[1];
    if (isKnownToHost(b, symbols) && lowerBound(b, symbols).value_or(0) > 0)
      return b;
    return std::nullopt;
  };
  switch (d.kind()) {
  case Dim::Kind::Symbol: {
    auto it = symbols.find(d.symbolName());
    if (it == symbols.end())
      return std::nullopt;
    if (it->second.bound && isKnownToHost(*it->second.bound, symbols))
      return it->second.bound;
    break;
  }
  case Dim::Kind::FloorDiv:
  case Dim::Kind::CeilDiv: {
    std::optional<Dim> a = operand(0), b = divisor();
    if (a && b)
      return d.kind() == Dim::Kind::FloorDiv ? floorDiv(*a, *b)
                                             : ceilDiv(*a, *b);
    break;
  }
  case Dim::Kind::Mod:
    if (std::optional<Dim> b = divisor())
      return *b - Dim(1);
    break;
  case Dim::Kind::Min: {
    std::optional<Dim> least;
    for (size_t i = 0; i < d.operands().size(); i++)
      if (std::optional<Dim> a = operand(i))
        least = least ? min(*least, *a) : *a;
    if (least)
      return least;
    break;
  }
  case Dim::Kind::Max: {
    std::optional<Dim> most = operand(0);
    for (size_t i = 1; most && i < d.operands().size(); i++) {
      std::optional<Dim> a = operand(i);
      most = a ? std::optional(max(*most, *a)) : std::nullopt;
    }
    if (most)
      return most;
    break;
  }
  default:
    break;
  }
  if (std::optional<int64_t> high = upperBound(d, symbols))
    return Dim(*high);
  return std::nullopt;
}

} // namespace

bool isKnownToHost(const Dim &d, const SymbolTable &symbols) {
  bool known = true;
  d.forEachSymbol([&](llvm::StringRef name) {
    auto it = symbols.find(name);
    known &= it != symbols.end() && it->second.home == SymbolHome::HostArgument;
  });
  return known;
}

std::optional<Dim> hostBound(const Dim &d, const SymbolTable &symbols) {
  if (isKnownToHost(d, symbols))
    return d;
  Dim sum = 0;
  for (const DimTerm &term : DimBuilder::terms(d)) {
    const bool known = llvm::all_of(term.atoms, [&](const Dim &atom) {
      return isKnownToHost(atom, symbols);
    });
    std::optional<Dim> bound =
        known ? DimBuilder::sum({term}) : ofTerm(term, symbols);
    if (!bound)
      return std::nullopt;
    sum = sum + *bound;
  }
  return simplify(sum, symbols);
}

} // namespace dlc
