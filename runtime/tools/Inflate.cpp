// SPDX-License-Identifier: Apache-2.0
// Decompression of DEFLATE (RFC 1951), for .npz files.
#include "runtime/tools/Inflate.h"

#include <algorithm>
#include <array>

using namespace dlc::tools;

namespace {

/// Bits of the stream, the lowest of each byte first. Behind its end come
/// zeros and `isOver` is set.
class Bits {
public:
  explicit Bits(std::span<const uint8_t> stream) : Stream(stream) {}

  uint32_t take(int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++)
      value |= next() << i;
    return value;
  }
  uint32_t next() {
    if (At / 8 >= Stream.size()) {
      isOver = true;
      return 0;
    }
    uint32_t bit = Stream[At / 8] >> (At % 8) & 1;
    At++;
    return bit;
  }
  void toByte() { At = (At + 7) / 8 * 8; }

  bool isOver = false;

private:
  std::span<const uint8_t> Stream;
  size_t At = 0;
};

/// A canonical Huffman code, from the lengths of its words.
class Code {
public:
  /// False when the lengths are those of no code.
  bool build(std::span<const uint8_t> lengths) {
    Counts.fill(0);
    Symbols.clear();
    for (uint8_t length : lengths)
      Counts[length]++;
    Counts[0] = 0;
    int left = 1;
    for (size_t length = 1; length < Counts.size(); length++)
      if ((left = left * 2 - Counts[length]) < 0)
        return false;
    for (size_t length = 1; length < Counts.size(); length++)
      for (size_t symbol = 0; symbol < lengths.size(); symbol++)
        if (lengths[symbol] == length)
          Symbols.push_back(uint16_t(symbol));
    return true;
  }
  /// The next symbol; -1 when the bits are no word of the code.
  int decode(Bits &bits) const {
    int code = 0, first = 0, index = 0;
    for (size_t length = 1; length < Counts.size(); length++) {
      code |= int(bits.next());
      if (code - first < Counts[length])
        return Symbols[size_t(index + code - first)];
      index += Counts[length];
      first = (first + Counts[length]) * 2;
      code *= 2;
    }
    return -1;
  }

private:
  std::array<int, 16> Counts = {}; ///< words of each length
  std::vector<uint16_t> Symbols;   ///< in the order of their words
};

class Inflater {
public:
  Inflater(std::span<const uint8_t> stream, size_t size)
      : In(stream), Size(size) {}

  bool run() {
    for (bool isLast = false; !isLast;) {
      isLast = In.next();
      uint32_t kind = In.take(2);
      bool isGood = kind == 0   ? stored()
                    : kind == 1 ? fixed()
                    : kind == 2 ? dynamic()
                                : false;
      if (!isGood || In.isOver)
        return false;
    }
    return Out.size() == Size;
  }
  std::vector<uint8_t> Out;

private:
  bool stored() {
    In.toByte();
    uint32_t count = In.take(16), check = In.take(16);
    if ((count ^ check) != 0xffff || count > Size - Out.size())
      return false;
    for (uint32_t i = 0; i < count; i++)
      Out.push_back(uint8_t(In.take(8)));
    return true;
  }
  bool fixed() {
    std::array<uint8_t, 288> lengths;
    for (size_t i = 0; i < lengths.size(); i++)
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    std::array<uint8_t, 30> distances;
    distances.fill(5);
    return Literals.build(lengths) && Distances.build(distances) && words();
  }
  bool dynamic() {
    static constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
    size_t literals = In.take(5) + 257, distances = In.take(5) + 1;
    size_t count = In.take(4) + 4;
    std::array<uint8_t, 19> order = {};
    for (size_t i = 0; i < count; i++)
      order[kOrder[i]] = uint8_t(In.take(3));
    Code code;
    if (!code.build(order))
      return false;
    std::vector<uint8_t> lengths;
    while (lengths.size() < literals + distances) {
      int symbol = code.decode(In);
      if (symbol < 0 || In.isOver)
        return false;
      if (symbol < 16) {
        lengths.push_back(uint8_t(symbol));
        continue;
      }
      if (symbol == 16 && lengths.empty())
        return false;
      uint8_t value = symbol == 16 ? lengths.back() : 0;
      uint32_t repeats = symbol == 16   ? 3 + In.take(2)
                         : symbol == 17 ? 3 + In.take(3)
                                        : 11 + In.take(7);
      lengths.insert(lengths.end(), repeats, value);
    }
    if (lengths.size() != literals + distances)
      return false;
    std::span<const uint8_t> all = lengths;
    return Literals.build(all.first(literals)) &&
           Distances.build(all.subspan(literals)) && words();
  }
  /// Literals and copies of what came before, up to the end of the block.
  bool words() {
    static constexpr uint16_t kLength[29] = {
        3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr uint8_t kLengthBits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
                                                1, 1, 2, 2, 2, 2, 3, 3, 3, 3,
                                                4, 4, 4, 4, 5, 5, 5, 5, 0};
    for (;;) {
      int symbol = Literals.decode(In);
      if (symbol < 0 || In.isOver)
        return false;
      if (symbol == 256)
        return true;
      if (symbol < 256) {
        if (Out.size() == Size)
          return false;
        Out.push_back(uint8_t(symbol));
        continue;
      }
      if (symbol > 285)
        return false;
      size_t length =
          kLength[symbol - 257] + In.take(kLengthBits[symbol - 257]);
      int code = Distances.decode(In);
      if (code < 0 || code > 29)
        return false;
      // 1, 2, 3, 4, then two codes for each further bit.
      int extra = code < 2 ? 0 : code / 2 - 1;
      size_t base =
          code < 2 ? size_t(code) + 1 : (size_t(2 + code % 2) << extra) + 1;
      size_t distance = base + In.take(extra);
      if (distance > Out.size() || length > Size - Out.size())
        return false;
      for (size_t i = 0; i < length; i++)
        Out.push_back(Out[Out.size() - distance]);
    }
  }

  Bits In;
  size_t Size;
  Code Literals, Distances;
};

} // namespace

std::optional<std::vector<uint8_t>>
dlc::tools::inflate(std::span<const uint8_t> stream, size_t size) {
  Inflater inflater(stream, size);
  if (!inflater.run())
    return std::nullopt;
  return std::move(inflater.Out);
}
