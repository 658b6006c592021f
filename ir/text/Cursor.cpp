// SPDX-License-Identifier: Apache-2.0
// The tokens of the text form.
#include "ir/text/Cursor.h"

#include "llvm/ADT/StringExtras.h"

namespace dlc {

using llvm::StringRef;

bool Cursor::failAt(const char *where, const llvm::Twine &message) {
  if (!failed()) {
    failurePlace = where;
    failure = message.str();
  }
  return false;
}

bool Cursor::fail(const llvm::Twine &message) {
  return failAt(here(), message);
}

void Cursor::skip() {
  while (!text.empty()) {
    if (llvm::isSpace(text[0]) || text[0] == ';')
      text = text.drop_front();
    else if (text.starts_with("//"))
      text = text.drop_until([](char c) { return c == '\n'; });
    else
      return;
  }
}

const char *Cursor::here() {
  skip();
  return text.data();
}

bool Cursor::atEnd() {
  skip();
  return text.empty();
}

bool Cursor::peek(StringRef token) {
  skip();
  return !failed() && text.starts_with(token);
}

bool Cursor::consume(StringRef token) {
  if (!peek(token))
    return false;
  text = text.drop_front(token.size());
  return true;
}

/// The next token, for messages.
std::string Cursor::found() {
  if (atEnd())
    return "the end";
  StringRef w = peekWord();
  if (!w.empty())
    return ("'" + w + "'").str();
  return ("'" + text.take_front() + "'").str();
}

bool Cursor::expect(StringRef token) {
  return consume(token) || fail("expected '" + token + "', found " + found());
}

StringRef Cursor::peekWord() {
  skip();
  if (text.empty() || !(llvm::isAlpha(text[0]) || text[0] == '_'))
    return "";
  return text.take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

StringRef Cursor::word() {
  if (failed())
    return "";
  StringRef w = peekWord();
  text = text.drop_front(w.size());
  return w;
}

bool Cursor::consumeWord(StringRef name) {
  if (failed() || peekWord() != name)
    return false;
  word();
  return true;
}

bool Cursor::expectWord(StringRef name) {
  return consumeWord(name) || fail("expected '" + name + "', found " + found());
}

bool Cursor::integer(int64_t &value) {
  skip();
  StringRef digits =
      text.drop_front(text.starts_with("-")).take_while([](char c) {
        return llvm::isDigit(c);
      });
  size_t length = digits.size() + text.starts_with("-");
  if (failed() || digits.empty())
    return fail("expected an integer, found " + found());
  if (text.take_front(length).getAsInteger(10, value))
    return fail("an integer of 64 bits expected, found " +
                text.take_front(length));
  text = text.drop_front(length);
  return true;
}

bool Cursor::wideInteger(int64_t &value) {
  skip();
  StringRef digits = text.take_while([](char c) { return llvm::isDigit(c); });
  uint64_t wide;
  if (failed() || digits.empty() || digits.getAsInteger(10, wide))
    return integer(value);
  text = text.drop_front(digits.size());
  value = int64_t(wide);
  return true;
}

bool Cursor::number(double &value) {
  skip();
  StringRef token = text.take_while([](char c) {
    return llvm::isAlnum(c) || c == '.' || c == '-' || c == '+';
  });
  if (failed() || token.empty() || !llvm::to_float(token, value))
    return fail("expected a number, found " + found());
  text = text.drop_front(token.size());
  return true;
}

bool Cursor::string(std::string &value) {
  const char *start = here();
  if (!consume("\""))
    return fail("expected a string in quotes, found " + found());
  value.clear();
  while (!text.empty() && text[0] != '"' && text[0] != '\n') {
    char c = text[0];
    text = text.drop_front();
    if (c != '\\') {
      value += c;
      continue;
    }
    if (text.empty())
      break;
    c = text[0];
    text = text.drop_front();
    unsigned code;
    switch (c) {
    case 'n':
      value += '\n';
      break;
    case 't':
      value += '\t';
      break;
    case '\\':
    case '"':
      value += c;
      break;
    case 'x':
      if (text.size() < 2 || text.take_front(2).getAsInteger(16, code))
        return failAt(text.data(), "two hexadecimal digits expected");
      value += char(code);
      text = text.drop_front(2);
      break;
    default:
      return failAt(text.data() - 1,
                    "unknown escape '\\" + llvm::Twine(c) + "'");
    }
  }
  if (!text.consume_front("\""))
    return failAt(start, "the string does not end on its line");
  return true;
}

bool Cursor::rawUntil(char end, StringRef &value) {
  size_t length = text.find(end);
  if (failed() || length == StringRef::npos)
    return fail("expected '" + llvm::Twine(end) + "'");
  value = text.take_front(length);
  text = text.drop_front(length + 1);
  return true;
}

} // namespace dlc
