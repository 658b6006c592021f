// SPDX-License-Identifier: Apache-2.0
// An array in memory: types and conversions.
#include "runtime/tools/Array.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>

using namespace dlc::tools;

uint64_t Array::count() const {
  uint64_t count = 1;
  for (int64_t dim : dims)
    count *= uint64_t(dim);
  return count;
}

dlc_tensor Array::view() {
  dlc_tensor tensor = {};
  tensor.data = bytes.data();
  tensor.bytes = bytes.size();
  tensor.type = type;
  tensor.rank = uint32_t(dims.size());
  for (size_t i = 0; i < dims.size() && i < DLC_MAX_RANK; i++)
    tensor.dims[i] = dims[i];
  return tensor;
}

uint64_t dlc::tools::arrayBytes(dlc_type type, const std::vector<int64_t> &dims,
                                const std::string &path) {
  uint64_t bits = dlc_type_bits(type);
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(bits, uint64_t(dim), &bits) ||
        bits >> 45)
      throw Failure((path.empty() ? "" : "\"" + path + "\": ") +
                    shapeText(dims) + " is too large for memory");
  return (bits + 7) / 8;
}

Array dlc::tools::makeArray(dlc_type type, const std::vector<int64_t> &dims) {
  Array array;
  array.type = type;
  array.dims = dims;
  array.bytes.resize(arrayBytes(type, dims));
  return array;
}

std::string dlc::tools::shapeText(const std::vector<int64_t> &dims) {
  std::string text;
  for (int64_t dim : dims)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text.empty() ? "scalar" : text;
}

// ---- small floats -----------------------------------------------------------

namespace {

/// A float format by its bits.
struct Format {
  int exponent, mantissa, bias;
  bool hasInfinity;
};

constexpr Format kF16 = {5, 10, 15, true}, kBF16 = {8, 7, 127, true};
constexpr Format kE4M3 = {4, 3, 7, false}, kE5M2 = {5, 2, 15, true};

double decode(uint32_t bits, const Format &f) {
  uint32_t mantissa = bits & ((1u << f.mantissa) - 1);
  int exponent = int(bits >> f.mantissa) & ((1 << f.exponent) - 1);
  double sign = bits >> (f.mantissa + f.exponent) & 1 ? -1 : 1;
  bool isTop = exponent == (1 << f.exponent) - 1;
  if (isTop && f.hasInfinity)
    return mantissa ? NAN : sign * INFINITY;
  if (isTop && mantissa == (1u << f.mantissa) - 1)
    return NAN;
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), 1 - f.bias - f.mantissa);
  return sign * std::ldexp(double(mantissa + (1u << f.mantissa)),
                           exponent - f.bias - f.mantissa);
}

uint32_t encode(double value, const Format &f) {
  uint32_t sign = uint32_t(std::signbit(value)) << (f.mantissa + f.exponent);
  uint32_t top = (1u << f.exponent) - 1;
  uint32_t infinity = f.hasInfinity
                          ? top << f.mantissa
                          : (top << f.mantissa) | ((1u << f.mantissa) - 1);
  if (std::isnan(value))
    return sign |
           (f.hasInfinity ? infinity | 1u << (f.mantissa - 1) : infinity);
  double size = std::fabs(value);
  if (std::isinf(size))
    return sign | infinity;
  if (size == 0)
    return sign;
  int exponent = std::max(std::ilogb(size), 1 - f.bias);
  // In units of the last place of its binade; a carry moves into the exponent.
  uint64_t units =
      uint64_t(std::nearbyint(std::ldexp(size, f.mantissa - exponent)));
  uint64_t bits = units >= (1u << f.mantissa)
                      ? (uint64_t(exponent + f.bias) << f.mantissa) + units -
                            (1u << f.mantissa)
                      : units;
  return sign | uint32_t(std::min<uint64_t>(bits, infinity));
}

template <class T> T load(const uint8_t *p, uint64_t i) {
  T value;
  memcpy(&value, p + i * sizeof(T), sizeof(T));
  return value;
}

template <class T> void store(uint8_t *p, uint64_t i, T value) {
  memcpy(p + i * sizeof(T), &value, sizeof(T));
}

} // namespace

double Array::at(uint64_t i) const {
  const uint8_t *p = bytes.data();
  switch (type) {
  case DLC_BOOL:
  case DLC_U8:
    return p[i];
  case DLC_I8:
    return load<int8_t>(p, i);
  case DLC_I16:
    return load<int16_t>(p, i);
  case DLC_I32:
    return load<int32_t>(p, i);
  case DLC_I64:
    return double(load<int64_t>(p, i));
  case DLC_U16:
    return load<uint16_t>(p, i);
  case DLC_U32:
    return load<uint32_t>(p, i);
  case DLC_U64:
    return double(load<uint64_t>(p, i));
  case DLC_F16:
    return decode(load<uint16_t>(p, i), kF16);
  case DLC_BF16:
    return decode(load<uint16_t>(p, i), kBF16);
  case DLC_F32:
    return double(load<float>(p, i));
  case DLC_F64:
    return load<double>(p, i);
  case DLC_F8E4M3:
    return decode(p[i], kE4M3);
  case DLC_F8E5M2:
    return decode(p[i], kE5M2);
  case DLC_I4:
  case DLC_U4: {
    int nibble = p[i / 2] >> (i % 2 * 4) & 15;
    return type == DLC_I4 && nibble >= 8 ? nibble - 16 : nibble;
  }
  }
  return NAN;
}

void Array::set(uint64_t i, double value) {
  uint8_t *p = bytes.data();
  switch (type) {
  case DLC_BOOL:
    return store<uint8_t>(p, i, value != 0);
  case DLC_U8:
    return store(p, i, uint8_t(value));
  case DLC_I8:
    return store(p, i, int8_t(value));
  case DLC_I16:
    return store(p, i, int16_t(value));
  case DLC_I32:
    return store(p, i, int32_t(value));
  case DLC_I64:
    return store(p, i, int64_t(value));
  case DLC_U16:
    return store(p, i, uint16_t(value));
  case DLC_U32:
    return store(p, i, uint32_t(value));
  case DLC_U64:
    return store(p, i, uint64_t(value));
  case DLC_F16:
    return store(p, i, uint16_t(encode(value, kF16)));
  case DLC_BF16:
    return store(p, i, uint16_t(encode(value, kBF16)));
  case DLC_F32:
    return store(p, i, float(value));
  case DLC_F64:
    return store(p, i, value);
  case DLC_F8E4M3:
    return store(p, i, uint8_t(encode(value, kE4M3)));
  case DLC_F8E5M2:
    return store(p, i, uint8_t(encode(value, kE5M2)));
  case DLC_I4:
  case DLC_U4: {
    int shift = int(i % 2 * 4);
    p[i / 2] =
        uint8_t((p[i / 2] & ~(15 << shift)) | (int(value) & 15) << shift);
    return;
  }
  }
}

Array dlc::tools::asType(Array array, dlc_type type) {
  if (array.type == type)
    return array;
  bool isNarrow = type == DLC_BF16 || type == DLC_F8E4M3 || type == DLC_F8E5M2;
  if (isNarrow && array.type == (type == DLC_BF16 ? DLC_U16 : DLC_U8)) {
    array.type = type;
    return array;
  }
  bool isSigned = type == DLC_I4, isByte = array.type == DLC_U8;
  if ((isSigned || type == DLC_U4) && (isByte || array.type == DLC_I8)) {
    Array packed = makeArray(type, array.dims);
    for (uint64_t i = 0; i < array.count(); i++) {
      // Raw bytes come as u8.
      double value = isSigned ? int8_t(array.bytes[i]) : array.at(i);
      if (value < (isSigned ? -8 : 0) || value > (isSigned ? 7 : 15))
        return array;
      packed.set(i, value);
    }
    return packed;
  }
  // The runtime says what it expected.
  return array;
}

std::vector<uint8_t> dlc::tools::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Failure("cannot open \"" + path + "\": " + strerror(errno));
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad())
    throw Failure("cannot read \"" + path + "\"");
  return bytes;
}

static Array parseArray(const std::string &path) {
  auto endsWith = [](const std::string &text, const char *end) {
    size_t size = strlen(end);
    return text.size() >= size &&
           text.compare(text.size() - size, size, end) == 0;
  };
  if (endsWith(path, ".npy"))
    return parseNpy(readFile(path), path);
  if (endsWith(path, ".pb"))
    return parseTensorProto(readFile(path), path);
  size_t npz = path.rfind(".npz");
  if (npz != std::string::npos &&
      (npz + 4 == path.size() || path[npz + 4] == ':')) {
    std::string file = path.substr(0, npz + 4);
    std::string key = npz + 4 == path.size() ? "" : path.substr(npz + 5);
    return parseNpy(readZipMember(readFile(file), key, file), path);
  }
  throw Failure("\"" + path + "\": expected a .npy, .npz or .pb file");
}

Array dlc::tools::readArray(const std::string &path) {
  Array array = parseArray(path);
  // As NumPy has it, each byte but 0 is true; kernels count on 0 or 1.
  if (array.type == DLC_BOOL)
    for (uint8_t &byte : array.bytes)
      byte = byte != 0;
  return array;
}

template <class F>
static auto sentenceOf(F &&work, std::string &error) noexcept
    -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    error = "out of memory";
  } catch (const std::exception &failure) {
    error = failure.what();
  }
  return {};
}

std::optional<Array> dlc::tools::readArray(const std::string &path,
                                           dlc_type wanted,
                                           std::string &error) noexcept {
  return sentenceOf(
      [&] { return std::optional(asType(readArray(path), wanted)); }, error);
}

bool dlc::tools::writeNpy(const std::string &path, const Array &array,
                          std::string &error) noexcept {
  return sentenceOf([&] { return writeNpy(path, array), true; }, error);
}
