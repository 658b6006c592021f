// SPDX-License-Identifier: Apache-2.0
// Dimension expressions and types from text.
#include "ir/text/Cursor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace dlc {

using llvm::StringRef;

constexpr unsigned maxDepth = 64; // of parentheses: a text cannot end the stack
constexpr size_t maxRank = 64;

bool Cursor::dim(Dim &value) {
  const char *start = here();
  if (!dimSum(value))
    return false;
  if (value.overflowed())
    return failAt(start, "the expression overflows 64 bits or divides by zero");
  return true;
}

/// sum := product (('+' | '-') product)*
bool Cursor::dimSum(Dim &value) {
  if (++depth > maxDepth)
    return fail("the expression is nested too deeply");
  if (!dimProduct(value))
    return false;
  for (;;) {
    Dim next;
    if (consume("+")) {
      if (!dimProduct(next))
        return false;
      value = value + next;
    } else if (consume("-")) {
      if (!dimProduct(next))
        return false;
      value = value - next;
    } else {
      --depth;
      return true;
    }
  }
}

/// product := atom ('*' atom)*
bool Cursor::dimProduct(Dim &value) {
  if (!dimAtom(value))
    return false;
  while (consume("*")) {
    Dim next;
    if (!dimAtom(next))
      return false;
    value = value * next;
  }
  return true;
}

/// atom := integer | string | '-' atom | '(' sum ')' | function '(' sum ',' sum
/// ')'
bool Cursor::dimAtom(Dim &value) {
  skip();
  if (text.empty())
    return fail("expected a dimension, found the end");
  if (llvm::isDigit(text[0]) ||
      (text[0] == '-' && text.size() > 1 && llvm::isDigit(text[1]))) {
    int64_t v;
    if (!integer(v))
      return false;
    value = v;
    return true;
  }
  if (peek("\"")) {
    std::string name;
    if (!string(name))
      return false;
    if (name.empty())
      return fail("a symbol needs a name");
    value = Dim::symbol(name);
    return true;
  }
  if (consume("-")) {
    if (++depth > maxDepth)
      return fail("the expression is nested too deeply");
    if (!dimAtom(value))
      return false;
    --depth;
    value = Dim(0) - value;
    return true;
  }
  if (consume("("))
    return dimSum(value) && expect(")");
  using Function = Dim (*)(const Dim &, const Dim &);
  Function function = llvm::StringSwitch<Function>(peekWord())
                          .Case("floordiv", floorDiv)
                          .Case("ceildiv", ceilDiv)
                          .Case("mod", mod)
                          .Case("max", max)
                          .Case("min", min)
                          .Default(nullptr);
  if (!function)
    return fail("expected a dimension, found " + found());
  word();
  Dim a, b;
  if (!expect("(") || !dimSum(a) || !expect(",") || !dimSum(b) || !expect(")"))
    return false;
  value = function(a, b);
  return true;
}

/// type := 'tensor' '<' (dimension 'x')* element (',' layout)? '>'
bool Cursor::type(TensorType &value) {
  if (!expectWord("tensor") || !expect("<"))
    return false;
  value = TensorType();
  for (;;) {
    StringRef element = peekWord();
    if (std::optional<DataType> parsed = parseDataType(element)) {
      word();
      value.element = *parsed;
      break;
    }
    Dim d;
    const char *start = here();
    if (!dim(d))
      return false;
    if (d.isConstant() && d.constant() < 0)
      return failAt(start, "a size cannot be negative, found " + d.str());
    if (value.shape.size() == maxRank)
      return failAt(start, "at most " + llvm::Twine(maxRank) + " dimensions");
    value.shape.push_back(d);
    // No skipping of blanks: 'x' belongs to the dimension.
    if (!text.consume_front("x"))
      return fail("expected 'x' after a dimension, found " + found());
  }
  if (value.elementCount().overflowed() || value.storageBytes().overflowed())
    return fail("the tensor's size overflows 64 bits");
  if (!consume(","))
    return expect(">");
  StringRef layout;
  const char *start = here();
  if (!rawUntil('>', layout))
    return false;
  llvm::Expected<Layout> parsed = Layout::parse(layout, value.rank());
  if (!parsed)
    return failAt(start, llvm::toString(parsed.takeError()));
  value.layout = std::move(*parsed);
  if (value.storageBytes().overflowed())
    return failAt(start, "the tensor's size overflows 64 bits");
  return true;
}

} // namespace dlc
