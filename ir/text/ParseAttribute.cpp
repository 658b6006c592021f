// SPDX-License-Identifier: Apache-2.0
// Attributes and constants from text.
#include "ir/text/ParseAttribute.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace dlc {

using llvm::StringRef;

namespace {

using Storage = OpInfo::AttrStorage;

/// One element, appended as the record's element type stores it.
bool parseElement(Cursor &in, DataType type, std::vector<uint8_t> &bytes,
                  int64_t i) {
  bytes.resize(std::max<size_t>(bytes.size(), byteSize(type, i + 1)));
  if (type == DataType::Bool) {
    bool value = in.consumeWord("true");
    if (!value && !in.consumeWord("false"))
      return in.fail("expected true or false");
    storeInt(type, bytes.data(), i, value);
    return true;
  }
  if (isFloat(type)) {
    double value;
    if (!in.number(value))
      return false;
    storeFloat(type, bytes.data(), i, value);
    return true;
  }
  const char *where = in.here();
  int64_t value;
  if (!in.wideInteger(value))
    return false;
  storeInt(type, bytes.data(), i, value);
  if (loadInt(type, bytes.data(), i) != value)
    return in.failAt(where, "the number does not fit " + stringify(type));
  return true;
}

/// Numbers in brackets, nested as one likes, in row-major order. `count` goes
/// up from 0.
bool parseElements(Cursor &in, DataType type, std::vector<uint8_t> &bytes,
                   int64_t &count, unsigned depth = 0) {
  if (depth > 64)
    return in.fail("the list is nested too deeply");
  return in.list([&] {
    if (in.peek("["))
      return parseElements(in, type, bytes, count, depth + 1);
    return parseElement(in, type, bytes, count++);
  });
}

/// "0x..." in memory order, all bytes.
bool parseHex(Cursor &in, std::vector<uint8_t> &bytes) {
  const char *where = in.here();
  std::string text, decoded;
  if (!in.string(text))
    return false;
  StringRef digits = text;
  if (!digits.consume_front("0x") || digits.size() % 2 != 0 ||
      !llvm::tryGetFromHex(digits, decoded))
    return in.failAt(where, "expected \"0x\" and pairs of hexadecimal digits");
  bytes.assign(decoded.begin(), decoded.end());
  return true;
}

/// 'dense' '<' (element | list | hex) '>' ':' type. The type comes last, so the
/// elements are read again once it is known.
bool parseDense(Cursor &in, Attribute &result) {
  const char *start = in.here();
  if (!in.expectWord("dense") || !in.expect("<"))
    return false;
  if (in.peek("..."))
    return in.fail("the constant was left out when this text was printed");
  Cursor elements = in;
  StringRef skipped;
  if (in.peek("\"")) {
    std::string hex;
    if (!in.string(hex) || !in.expect(">"))
      return false;
  } else if (!in.rawUntil('>', skipped)) {
    return false;
  }
  TensorType type;
  if (!in.expect(":"))
    return false;
  const char *typePlace = in.here();
  if (!in.type(type))
    return false;
  if (!type.isStatic())
    return in.failAt(typePlace,
                     "the type of a constant must be static, found " +
                         type.str());
  std::vector<uint8_t> bytes;
  int64_t count = 0;
  int64_t stored = type.layout.storageElements(type.shape).constant();
  bool splat = false;
  auto forward = [&](bool ok) {
    return ok || in.failAt(elements.place(), elements.message());
  };
  if (elements.peek("\"")) {
    if (!forward(parseHex(elements, bytes)))
      return false;
    if (int64_t(bytes.size()) != byteSize(type.element, stored))
      return in.failAt(start, llvm::Twine(bytes.size()) + " bytes for " +
                                  type.str() + ", expected " +
                                  llvm::Twine(byteSize(type.element, stored)));
  } else if (elements.peek("[")) {
    if (!forward(parseElements(elements, type.element, bytes, count)))
      return false;
    if (count != stored)
      return in.failAt(start, llvm::Twine(count) + " elements for " +
                                  type.str() + ", expected " +
                                  llvm::Twine(stored));
  } else {
    splat = true;
    if (!forward(parseElement(elements, type.element, bytes, 0)))
      return false;
  }
  if (!forward(elements.expect(">")))
    return false;
  result =
      Constant(std::move(type), ConstantBytes::own(std::move(bytes)), splat);
  return true;
}

bool parseLayout(Cursor &in, llvm::ArrayRef<Value *> operands,
                 Attribute &result) {
  StringRef text;
  if (!in.expectWord("layout") || !in.expect("<"))
    return false;
  const char *where = in.here();
  if (!in.rawUntil('>', text))
    return false;
  int64_t rank =
      operands.empty() || !operands[0] ? 0 : operands[0]->type().rank();
  llvm::Expected<Layout> layout = Layout::parse(text, rank);
  if (!layout)
    return in.failAt(where, llvm::toString(layout.takeError()));
  result = std::move(*layout);
  return true;
}

bool parseEnum(Cursor &in, const OpInfo::Attr &info, Attribute &result) {
  const char *where = in.here();
  StringRef name = in.word();
  const StringRef *found = llvm::find(info.cases, name);
  if (found == info.cases.end())
    return in.failAt(where, info.name + " must be one of " +
                                llvm::join(info.cases, ", ") + ", found '" +
                                name + "'");
  result = int64_t(found - info.cases.begin());
  return true;
}

template <class T, class Fn>
bool parseListOf(Cursor &in, Attribute &result, Fn item) {
  std::vector<T> list;
  if (!in.list([&] { return item(list.emplace_back()); }))
    return false;
  result = std::move(list);
  return true;
}

bool parseValue(Cursor &in, const OpInfo::Attr &info,
                llvm::ArrayRef<Value *> operands, Attribute &result) {
  switch (info.storage) {
  case Storage::Bool:
    if (in.consumeWord("true"))
      result = true;
    else if (in.consumeWord("false"))
      result = false;
    else
      return in.fail("expected true or false");
    return true;
  case Storage::Int:
    return in.integer(result.emplace<int64_t>());
  case Storage::Enum:
    return parseEnum(in, info, result);
  case Storage::Float:
    return in.number(result.emplace<double>());
  case Storage::String:
    return in.string(result.emplace<std::string>());
  case Storage::IntList:
    return parseListOf<int64_t>(in, result,
                                [&](int64_t &v) { return in.integer(v); });
  case Storage::FloatList:
    return parseListOf<double>(in, result,
                               [&](double &v) { return in.number(v); });
  case Storage::StringList:
    return parseListOf<std::string>(
        in, result, [&](std::string &v) { return in.string(v); });
  case Storage::DimList:
    return parseListOf<Dim>(in, result, [&](Dim &v) { return in.dim(v); });
  case Storage::Type: {
    const char *where = in.here();
    StringRef name = in.word();
    std::optional<DataType> type = parseDataType(name);
    if (!type)
      return in.failAt(where, "expected an element type, found '" + name + "'");
    result = *type;
    return true;
  }
  case Storage::Layout:
    return parseLayout(in, operands, result);
  case Storage::Dense:
    return parseDense(in, result);
  }
  return false;
}

} // namespace

bool parseAttributes(Cursor &in, const OpInfo &info,
                     llvm::ArrayRef<Value *> operands,
                     llvm::MutableArrayRef<Attribute> attributes) {
  if (!in.consume("{"))
    return true;
  while (!in.peek("}")) {
    const char *where = in.here();
    StringRef name = in.word();
    const OpInfo::Attr *attr = llvm::find_if(
        info.attributes, [&](const OpInfo::Attr &a) { return a.name == name; });
    if (attr == info.attributes.end())
      return in.failAt(where,
                       info.mnemonic + " has no attribute '" + name + "'");
    size_t i = attr - info.attributes.begin();
    if (!std::holds_alternative<std::monostate>(attributes[i]))
      return in.failAt(where, "attribute '" + name + "' is given twice");
    if (!in.expect("=") || !parseValue(in, *attr, operands, attributes[i]))
      return false;
    if (!in.consume(","))
      break;
  }
  return in.expect("}");
}

} // namespace dlc
