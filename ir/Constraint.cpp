// SPDX-License-Identifier: Apache-2.0
// What a module takes for granted of its symbolic sizes.
#include "ir/Constraint.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

namespace {

/// Expressions over symbols without divisors: a symbol that is a multiple of k
/// becomes k times one of the same name, one of a single value that value.
class Scaled {
public:
  explicit Scaled(const SymbolTable &symbols) : original(symbols) {
    for (const auto &[name, symbol] : symbols) {
      Symbol s = symbol;
      s.lower = ceilDiv(s.lower, s.divisor).constant();
      if (s.upper)
        s.upper = floorDiv(*s.upper, s.divisor).constant();
      if (s.bound)
        s.bound = floorDiv(apply(*s.bound), s.divisor);
      s.divisor = 1;
      table.emplace(name, std::move(s));
    }
  }
  Dim apply(const Dim &d) const {
    return d.substitute([&](llvm::StringRef name) -> std::optional<Dim> {
      auto it = original.find(name);
      if (it == original.end())
        return std::nullopt;
      const Symbol &s = it->second;
      if (s.upper == s.lower)
        return Dim(s.lower);
      if (s.divisor == 1)
        return std::nullopt;
      return Dim::symbol(name) * Dim(s.divisor);
    });
  }
  const SymbolTable &symbols() const { return table; }

private:
  const SymbolTable &original;
  SymbolTable table;
};

/// A term of a sum: `factor` times an expression.
struct Term {
  int64_t factor;
  Dim of;
};

llvm::SmallVector<Term, 4> terms(const Dim &d) {
  llvm::SmallVector<Term, 4> result;
  auto parts = d.kind() == Dim::Kind::Add ? d.operands() : llvm::ArrayRef(d);
  for (const Dim &part : parts)
    if (part.kind() == Dim::Kind::Mul && part.operands().size() == 2 &&
        part.operands()[1].isConstant())
      result.push_back({part.operands()[1].constant(), part.operands()[0]});
    else
      result.push_back({1, part});
  return result;
}

/// A smaller expression, or the same: where a multiple of a division by a
/// constant counts, what it is at least. k * floordiv(a, k) is between a - k +
/// 1 and a.
Dim withoutDivisions(const Dim &d) {
  Dim result(0);
  for (const Term &t : terms(d)) {
    std::optional<int64_t> by;
    if (t.of.kind() == Dim::Kind::FloorDiv)
      by = t.of.operands()[1].tryConstant();
    if (!by || *by < 1 || t.factor % *by != 0) {
      result = result + t.of * Dim(t.factor);
      continue;
    }
    Dim least = t.of.operands()[0];
    if (t.factor > 0)
      least = least - Dim(*by - 1);
    result = result + withoutDivisions(least * Dim(t.factor / *by));
  }
  return result;
}

/// Also looks at the operands of max and min, so many of them.
bool provedNonNegative(const Dim &d, const SymbolTable &symbols,
                       unsigned choices = 5) {
  // What a division is at least shows in a multiple of it.
  int64_t scale = 1;
  for (const Term &t : terms(d))
    if (t.of.kind() == Dim::Kind::FloorDiv)
      if (std::optional<int64_t> by = t.of.operands()[1].tryConstant())
        scale *= *by > 0 && *by < 1000 && scale < 1000000 ? *by : 1;
  if (isNonNegative(d, symbols) ||
      isNonNegative(withoutDivisions(d * Dim(scale)), symbols))
    return true;
  if (choices == 0)
    return false;
  for (const Term &t : terms(d)) {
    bool isMax = t.of.kind() == Dim::Kind::Max;
    if (!isMax && t.of.kind() != Dim::Kind::Min)
      continue;
    auto with = [&](unsigned operand) {
      Dim other = t.of.operands()[operand] - t.of;
      return provedNonNegative(d + other * Dim(t.factor), symbols, choices - 1);
    };
    // The larger of two is at least either of them; a positive number of the
    // smaller one may be of either.
    return isMax == (t.factor > 0) ? with(0) || with(1) : with(0) && with(1);
  }
  return false;
}

bool holds(int64_t left, Relation relation, int64_t right) {
  return relation == Relation::Equal ? left == right : left <= right;
}

} // namespace

Proof prove(const Constraint &c, const SymbolTable &symbols) {
  if (c.left == c.right)
    return Proof::Proved;
  Scaled scaled(symbols);
  Dim room =
      simplify(scaled.apply(c.right) - scaled.apply(c.left), scaled.symbols());
  if (room.isConstant())
    return proof(holds(0, c.relation, room.constant()));
  const SymbolTable &table = scaled.symbols();
  bool below = provedNonNegative(Dim(0) - room - Dim(1), table);
  if (c.relation == Relation::LessEqual)
    return provedNonNegative(room, table) ? Proof::Proved
           : below                        ? Proof::Refuted
                                          : Proof::Unknown;
  return below || provedNonNegative(room - Dim(1), table) ? Proof::Refuted
                                                          : Proof::Unknown;
}

void assume(ConstraintList &list, const SymbolTable &symbols, const Dim &left,
            Relation relation, const Dim &right, const llvm::Twine &sentence) {
  Constraint made{left, relation, right, ""};
  bool listed = llvm::any_of(list, [&](const Constraint &c) {
    if (c.relation != relation)
      return false;
    return (c.left == left && c.right == right) ||
           (relation == Relation::Equal && c.left == right && c.right == left);
  });
  if (listed || prove(made, symbols) == Proof::Proved)
    return;
  made.sentence = sentence.str();
  list.push_back(std::move(made));
}

llvm::Error checkConstraints(
    llvm::ArrayRef<Constraint> constraints,
    llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookup) {
  for (const Constraint &c : constraints) {
    bool known = true;
    for (const Dim &d : {c.left, c.right})
      d.forEachSymbol(
          [&](llvm::StringRef name) { known &= lookup(name).has_value(); });
    if (!known)
      continue;
    std::optional<int64_t> left = c.left.evaluate(lookup),
                           right = c.right.evaluate(lookup);
    if (left && right && holds(*left, c.relation, *right))
      continue;
    auto text = [](std::optional<int64_t> v) {
      return v ? std::to_string(*v) : std::string("a size beyond 64 bits");
    };
    return llvm::createStringError(c.sentence + ": got " + text(left) +
                                   " and " + text(right));
  }
  return llvm::Error::success();
}

} // namespace dlc
