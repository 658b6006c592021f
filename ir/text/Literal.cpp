// SPDX-License-Identifier: Apache-2.0
// Numbers and constants as text, without loss.
#include "ir/text/Literal.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
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

std::string denseLiteral(const Constant &c, int64_t literalElements) {
  int64_t count = c.elements();
  // The splat's one element, also where the tensor has none.
  if (c.isSplat())
    if (std::string text = elementLiteral(c, 0); !text.empty())
      return text;
  bool plain = c.type().layout.isPermutation() && !c.isSplat();
  if (plain && count <= literalElements) {
    std::string text = "[";
    bool exact = true;
    for (int64_t i = 0; exact && i != count; ++i) {
      std::string element = elementLiteral(c, i);
      exact = !element.empty();
      text += (i ? ", " : "") + element;
    }
    if (exact)
      return text + "]";
  }
  return "\"0x" +
         llvm::toHex(llvm::ArrayRef<uint8_t>(c.expandedBytes()),
                     /*LowerCase=*/true) +
         "\"";
}

} // namespace dlc
