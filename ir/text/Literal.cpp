// SPDX-License-Identifier: Apache-2.0
// Numbers and constants as text, without loss.
#include "ir/text/Literal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace dlc {

template <class T> static std::string shortest(T v) {
  if (v != v)
    return "nan";
  if (std::isinf(v))
    return v < 0 ? "-inf" : "inf";
  char buffer[40];
  // Without a format argument to_chars gives the shortest text that reads back.
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), v).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

std::string floatLiteral(double v) { return shortest(v); }
std::string floatLiteralF32(float v) { return shortest(v); }

/// Element i, or an empty text where the text would read back differently.
static std::string elementLiteral(const Constant &c, int64_t i) {
  DataType type = c.type().element;
  if (type == DataType::Bool)
    return c.intAt(i) ? "true" : "false";
  if (type == DataType::U64)
    return std::to_string(uint64_t(c.intAt(i)));
  if (!isFloat(type))
    return std::to_string(c.intAt(i));
  double v = c.floatAt(i);
  // NaNs differ in their bits; the literal stands for one of them.
  if (v != v)
    v = std::numeric_limits<double>::quiet_NaN();
  uint8_t stored[8] = {};
  storeFloat(type, stored, 0, v);
  int64_t size = byteSize(type, 1);
  int64_t at = c.isSplat() ? 0 : i * size;
  if (std::memcmp(stored, c.rawBytes().data() + at, size) != 0)
    return "";
  return type == DataType::F64 ? floatLiteral(v) : floatLiteralF32(float(v));
}

// A piece at a time: there may be a billion digits.
static void printHex(llvm::ArrayRef<uint8_t> bytes, llvm::raw_ostream &os) {
  constexpr size_t kBytes = 1 << 12;
  static const std::vector<std::array<char, 2>> digits = [] {
    std::vector<std::array<char, 2>> table(256);
    for (unsigned i = 0; i < 256; ++i)
      table[i] = {llvm::hexdigit(i >> 4, true), llvm::hexdigit(i & 15, true)};
    return table;
  }();
  std::array<char, 2> text[kBytes];
  while (!bytes.empty()) {
    llvm::ArrayRef<uint8_t> some = bytes.take_front(kBytes);
    for (size_t i = 0; i < some.size(); ++i)
      text[i] = digits[some[i]];
    os.write(text[0].data(), 2 * some.size());
    bytes = bytes.drop_front(some.size());
  }
}

void printDense(const Constant &c, int64_t literalElements,
                llvm::raw_ostream &os) {
  int64_t count = c.elements();
  // The splat's one element, also where the tensor has none.
  if (c.isSplat())
    if (std::string text = elementLiteral(c, 0); !text.empty()) {
      os << text;
      return;
    }
  bool plain = c.type().layout.isPermutation() && !c.isSplat();
  if (plain && count <= literalElements) {
    std::string text = "[";
    bool exact = true;
    for (int64_t i = 0; exact && i != count; ++i) {
      std::string element = elementLiteral(c, i);
      exact = !element.empty();
      text += (i ? ", " : "") + element;
    }
    if (exact) {
      os << text << "]";
      return;
    }
  }
  os << "\"0x";
  if (c.isSplat())
    printHex(c.expandedBytes(), os);
  else
    printHex(c.rawBytes(), os);
  os << "\"";
}

} // namespace dlc
