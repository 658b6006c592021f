// SPDX-License-Identifier: Apache-2.0
// Patterns over values that can say why one does not match.
//
//   Value *x;
//   Constant c;
//   match::Why why;
//   if (!match::match(v, match::op<MulOp>(match::value(x),
//                                         match::constant(c)), &why))
//     why.text(): "operand 1 of mul: expected a constant, found relu (node
//     \"r\" (Relu))"
//
// Patterns are small objects, composed by value; captures are references to the
// caller's variables. They are written only if the whole pattern matches: a
// branch that failed leaves nothing behind, and so does a failed match.
#pragma once

#include "ir/Ops.h"

#include <concepts>
#include <tuple>

namespace dlc::match {

/// Receives why a match failed. One that nobody asked builds no text.
class Why {
public:
  explicit Why(bool asked = true) : isAsked(asked) {}
  bool asked() const { return isAsked; }
  /// Where in the pattern, what was expected and what was found; empty if
  /// nothing failed or nobody asked.
  llvm::StringRef text() const { return sentence; }
  operator llvm::StringRef() const { return sentence; }
  /// Puts the rule that did not apply before it: `rule: sentence`.
  Why &preface(llvm::StringRef rule);

  // For patterns.
  /// The value is no `what`.
  void expected(const llvm::Twine &what, const Value *found);
  /// The value is what was expected, but something about it is not.
  void refused(const llvm::Twine &why);
  /// What was said concerns this operand.
  void inOperand(unsigned i, const Op &op);
  /// Takes over what `other` says if that lies further inside the pattern.
  void takeDeeper(const Why &other);
  /// How many levels of the pattern did match on the way to the refusal.
  unsigned depth() const { return level; }
  void append(llvm::StringRef more) { sentence += more; }

private:
  bool isAsked;
  std::string sentence;
  unsigned level = 0;
};

/// The value in a sentence: `relu (node "r" (Relu))`, `input "x"`, `nothing`.
std::string describe(const Value *value);
/// Numbers as `uniform` compares them: 0 is not -0.
bool isUniform(const Value *value, double number);
std::optional<double> uniformValue(const Value *value);
std::string numberText(double number);

template <class P>
concept Pattern = requires(const P &p, Value *v, Why *why) {
  // Tests and says why not; `why` is null when nobody asks.
  { p.matches(v, why) } -> std::same_as<bool>;
  p.bind(v);                                 // writes captures of a match
  { p.what() } -> std::same_as<std::string>; // for "expected ..."
};

/// Does the value match? Writes the captures if it does, and says why not.
template <Pattern P>
bool match(Value *value, const P &pattern, Why *why = nullptr) {
  if (why)
    *why = Why(why->asked());
  if (!pattern.matches(value, why && why->asked() ? why : nullptr))
    return false;
  pattern.bind(value);
  return true;
}
/// The same for the first result of an op.
template <Pattern P> bool match(Op *op, const P &pattern, Why *why = nullptr) {
  return match(op->result(), pattern, why);
}

//===--- Leaves -----------------------------------------------------------===//

/// A pattern of one value: `Test` says whether, `Write` what is captured.
template <class Test, class Write> struct Leaf {
  Test test;
  Write write;
  const char *name;
  bool matches(Value *v, Why *why) const {
    if (test(v))
      return true;
    if (why)
      why->expected(name, v);
    return false;
  }
  void bind(Value *v) const { write(v); }
  std::string what() const { return name; }
};

namespace detail {
inline bool present(const Value *v) { return v != nullptr; }
inline bool isConstant(const Value *v) {
  return v && v->definingOp() && v->definingOp()->kind() == OpKind::Constant;
}
inline void ignore(Value *) {}
} // namespace detail

/// Whatever is there.
inline auto value() { return Leaf{detail::present, detail::ignore, "a value"}; }
inline auto value(Value *&to) {
  return Leaf{detail::present, [&to](Value *v) { to = v; }, "a value"};
}

inline auto constant() {
  return Leaf{detail::isConstant, detail::ignore, "a constant"};
}
inline auto constant(Value *&to) {
  return Leaf{detail::isConstant, [&to](Value *v) { to = v; }, "a constant"};
}
inline auto constant(Constant &to) {
  return Leaf{detail::isConstant,
              [&to](Value *v) { to = ConstantOp(v->definingOp()).value(); },
              "a constant"};
}

/// A constant whose elements are all the same; captures their value.
inline auto uniform(double &to) {
  return Leaf{[](Value *v) { return uniformValue(v).has_value(); },
              [&to](Value *v) { to = *uniformValue(v); },
              "a constant of one value"};
}

/// A constant whose elements are all `number`.
struct Uniform {
  double number;
  bool matches(Value *v, Why *why) const {
    if (isUniform(v, number))
      return true;
    if (why)
      why->expected(what(), v);
    return false;
  }
  void bind(Value *) const {}
  std::string what() const { return "a constant of " + numberText(number); }
};
inline Uniform uniform(const double &number) { return {number}; }

/// This value and no other.
struct Is {
  const Value *other;
  bool matches(Value *v, Why *why) const {
    if (v == other)
      return true;
    if (why)
      why->expected(what(), v);
    return false;
  }
  void bind(Value *) const {}
  std::string what() const { return describe(other); }
};
inline Is is(const Value *other) { return {other}; }

//===--- Ops --------------------------------------------------------------===//

namespace detail {
template <Pattern P>
bool operand(const Op &op, unsigned i, const P &pattern, Why *why) {
  if (pattern.matches(op.operand(i), why))
    return true;
  if (why)
    why->inOperand(i, op);
  return false;
}

template <class T> Op *opOf(Value *v, Why *why) {
  Op *op = v ? v->definingOp() : nullptr;
  if (op && op->kind() == T::opKind)
    return op;
  if (why)
    why->expected(opInfo(T::opKind).mnemonic, v);
  return nullptr;
}
} // namespace detail

template <class T, Pattern... Ps> struct OpPattern {
  T *to;
  std::tuple<Ps...> operands;

  bool matches(Value *v, Why *why) const {
    const Op *op = detail::opOf<T>(v, why);
    unsigned i = 0;
    return op && std::apply(
                     [&](const Ps &...p) {
                       return (detail::operand(*op, i++, p, why) && ...);
                     },
                     operands);
  }
  void bind(Value *v) const {
    if (to)
      *to = T(v->definingOp());
    unsigned i = 0;
    std::apply(
        [&](const Ps &...p) { (p.bind(v->definingOp()->operand(i++)), ...); },
        operands);
  }
  std::string what() const { return opInfo(T::opKind).mnemonic.str(); }
};

/// A result of a `T` whose first operands match; those that are left out may be
/// anything.
template <class T, Pattern... Ps> OpPattern<T, Ps...> op(Ps... operands) {
  return {nullptr, {operands...}};
}
/// The same, and captures the op.
template <class T, Pattern... Ps>
requires std::derived_from<T, OpView> OpPattern<T, Ps...> op(T &to,
                                                             Ps... operands) {
  return {&to, {operands...}};
}

template <class T, Pattern P, Pattern Q> struct Commutative {
  P first;
  Q second;

  bool matches(Value *v, Why *why) const {
    const Op *op = detail::opOf<T>(v, why);
    if (!op)
      return false;
    if (inOrder(*op, 0, why))
      return true;
    if (!why)
      return inOrder(*op, 1, nullptr);
    Why swapped;
    if (inOrder(*op, 1, &swapped))
      return true;
    if (swapped.depth() == why->depth())
      why->append(", in either order");
    why->takeDeeper(swapped);
    return false;
  }
  void bind(Value *v) const {
    const Op *op = v->definingOp();
    unsigned swap = !inOrder(*op, 0, nullptr);
    first.bind(op->operand(swap));
    second.bind(op->operand(1 - swap));
  }
  std::string what() const { return opInfo(T::opKind).mnemonic.str(); }

private:
  bool inOrder(const Op &op, unsigned swap, Why *why) const {
    return detail::operand(op, swap, first, why) &&
           detail::operand(op, 1 - swap, second, why);
  }
};

/// A `T` of two operands that match in this order or in the other one.
template <class T, Pattern P, Pattern Q>
Commutative<T, P, Q> commutative(P first, Q second) {
  return {first, second};
}

//===--- Combinators ------------------------------------------------------===//

template <Pattern P> struct Captured : P {
  Value **to;
  void bind(Value *v) const {
    *to = v;
    P::bind(v);
  }
};
/// What the pattern matches, captured.
template <Pattern P> Captured<P> value(Value *&to, P pattern) {
  return {{pattern}, &to};
}

template <Pattern P, class Predicate> struct Where : P {
  Predicate holds;
  llvm::StringRef sentence;
  bool matches(Value *v, Why *why) const {
    if (!P::matches(v, why))
      return false;
    if (holds(v))
      return true;
    if (why)
      why->refused(sentence);
    return false;
  }
};
/// What the pattern matches and the predicate of `Value *` holds for; otherwise
/// `sentence` is the reason. The predicate must not look at captures: nothing
/// is captured yet.
template <Pattern P, class Predicate>
Where<P, Predicate> where(P pattern, Predicate holds,
                          llvm::StringRef sentence) {
  return {{pattern}, holds, sentence};
}

template <Pattern P> struct OneUse : P {
  bool matches(Value *v, Why *why) const {
    if (!P::matches(v, why))
      return false;
    if (v->hasOneUse())
      return true;
    if (why)
      why->refused(llvm::Twine("expected one use of ") + describe(v) +
                   ", found " + llvm::Twine(v->uses().size()) +
                   (v->isOutput() ? " and an output" : ""));
    return false;
  }
};
/// What the pattern matches, with one use, no output.
template <Pattern P> OneUse<P> oneUse(P pattern) { return {pattern}; }

template <Pattern P> struct Optional : P {
  bool matches(Value *v, Why *why) const {
    if (!v || P::matches(v, why))
      return true;
    if (why && why->depth() == 0)
      why->expected(what(), v);
    return false;
  }
  void bind(Value *v) const {
    if (v)
      P::bind(v);
  }
  std::string what() const { return "nothing or " + P::what(); }
};
/// An operand that is absent, and then captures nothing, or matches.
template <Pattern P> Optional<P> optional(P pattern) { return {pattern}; }

template <Pattern... Ps> struct AnyOf {
  std::tuple<Ps...> patterns;
  bool matches(Value *v, Why *why) const {
    auto any = [&](const Ps &...p) { return (p.matches(v, nullptr) || ...); };
    if (std::apply(any, patterns))
      return true;
    if (!why)
      return false;
    // The one that got furthest says more than that none fits.
    why->expected(what(), v);
    std::apply(
        [&](const Ps &...p) {
          (
              [&] {
                Why own;
                p.matches(v, &own);
                why->takeDeeper(own);
              }(),
              ...);
        },
        patterns);
    return false;
  }
  void bind(Value *v) const {
    std::apply(
        [&](const Ps &...p) {
          (void)((p.matches(v, nullptr) && (p.bind(v), true)) || ...);
        },
        patterns);
  }
  std::string what() const {
    std::string text;
    std::apply(
        [&](const Ps &...p) {
          ((text += (text.empty() ? "" : " or ") + p.what()), ...);
        },
        patterns);
    return text;
  }
};
/// What one of the patterns matches; the first that does captures.
template <Pattern... Ps> AnyOf<Ps...> anyOf(Ps... patterns) {
  return {{patterns...}};
}

template <Pattern P, class... Ts> struct Through : P {
  bool matches(Value *v, Why *why) const { return P::matches(behind(v), why); }
  void bind(Value *v) const { P::bind(behind(v)); }

private:
  static Value *behind(Value *v) {
    while (v && v->definingOp() &&
           ((v->definingOp()->kind() == Ts::opKind) || ...))
      v = v->definingOp()->operand(0);
    return v;
  }
};
/// What the pattern matches behind any number of `Ts`, through their first
/// operands.
template <class... Ts, Pattern P> Through<P, Ts...> through(P pattern) {
  return {{pattern}};
}

} // namespace dlc::match
