// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy format, and .npz (a zip of them).
#include "runtime/tools/Array.h"
#include "runtime/tools/Inflate.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>

using namespace dlc::tools;

static Failure bad(const std::string &path, const std::string &what) {
  return Failure("\"" + path + "\": " + what);
}

// ---- .npy -------------------------------------------------------------------

/// The text behind `'key':` in the header, to the next comma outside brackets.
static std::string field(const std::string &header, const std::string &key,
                         const std::string &path) {
  size_t at = header.find("'" + key + "':");
  if (at == std::string::npos)
    throw bad(path, "the .npy header has no " + key);
  at += key.size() + 3;
  std::string text;
  int depth = 0;
  for (; at < header.size(); at++) {
    char c = header[at];
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if ((c == ',' && depth == 0) || c == '}')
      break;
    if (c != ' ')
      text += c;
  }
  return text;
}

static dlc_type typeOf(const std::string &descr, const std::string &path) {
  static const struct {
    const char *code;
    dlc_type type;
  } kTypes[] = {{"b1", DLC_BOOL}, {"i1", DLC_I8},  {"i2", DLC_I16},
                {"i4", DLC_I32},  {"i8", DLC_I64}, {"u1", DLC_U8},
                {"u2", DLC_U16},  {"u4", DLC_U32}, {"u8", DLC_U64},
                {"f2", DLC_F16},  {"f4", DLC_F32}, {"f8", DLC_F64},
                {"V1", DLC_U8},   {"V2", DLC_U16}};
  // 'descr' comes with its quotes: '<f4'.
  if (descr.size() == 5 && descr[1] != '>')
    for (const auto &entry : kTypes)
      if (descr.compare(2, 2, entry.code) == 0)
        return entry.type;
  throw bad(path, "arrays of type " + descr +
                      " are not supported, expected a little-endian bool, "
                      "integer or float type");
}

/// The elements of a column-major array in row-major order.
static std::vector<uint8_t> rowMajor(const uint8_t *data, uint64_t bytes,
                                     const Array &array) {
  const std::vector<int64_t> &dims = array.dims;
  size_t each = dlc_type_bits(array.type) / 8, rank = dims.size();
  std::vector<uint64_t> stride(rank), index(rank);
  uint64_t step = each;
  for (size_t d = 0; d < rank; d++) {
    stride[d] = step;
    step *= uint64_t(dims[d]);
  }
  std::vector<uint8_t> out(bytes);
  uint64_t from = 0;
  for (uint64_t to = 0; to < bytes; to += each) {
    memcpy(out.data() + to, data + from, each);
    for (size_t d = rank; d-- > 0;) {
      from += stride[d];
      if (++index[d] < uint64_t(dims[d]))
        break;
      from -= stride[d] * index[d];
      index[d] = 0;
    }
  }
  return out;
}

Array dlc::tools::parseNpy(const std::vector<uint8_t> &file,
                           const std::string &path) {
  if (file.size() < 10 || memcmp(file.data(), "\x93NUMPY", 6) != 0)
    throw bad(path, "not an .npy file");
  size_t start = file[6] == 1 ? 10 : 12;
  size_t length = file[8] | size_t(file[9]) << 8;
  if (start == 12) {
    if (file.size() < 12)
      throw bad(path, "truncated");
    length |= size_t(file[10]) << 16 | size_t(file[11]) << 24;
  }
  if (file.size() - start < length)
    throw bad(path, "truncated");
  std::string header(reinterpret_cast<const char *>(file.data()) + start,
                     length);
  dlc_type type = typeOf(field(header, "descr", path), path);
  std::string shape = field(header, "shape", path);
  std::vector<int64_t> dims;
  for (const char *p = shape.c_str(); *p;) {
    if (*p == '-')
      throw bad(path, "the shape " + shape + " has a negative dimension");
    if (*p < '0' || *p > '9') {
      p++;
      continue;
    }
    char *end = nullptr;
    dims.push_back(strtoll(p, &end, 10));
    p = end;
  }
  bool isFortran = field(header, "fortran_order", path) == "True";
  // Compared before there is memory for what the header says.
  uint64_t bytes = arrayBytes(type, dims, path);
  if (file.size() - start - length != bytes)
    throw bad(path, "got " + std::to_string(file.size() - start - length) +
                        " bytes of data, expected " + std::to_string(bytes) +
                        " for " + shapeText(dims) + " of " +
                        dlc_type_name(type));
  Array array;
  array.type = type;
  array.dims = dims;
  const uint8_t *data = file.data() + start + length;
  if (isFortran && dims.size() > 1)
    array.bytes = rowMajor(data, bytes, array);
  else
    array.bytes.assign(data, data + bytes);
  return array;
}

void dlc::tools::writeNpy(const std::string &path, const Array &array) {
  static const char *kCodes[] = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1",
                                 "<u2", "<u4", "<u8", "<f2", "<u2", "<f4",
                                 "<f8", "|u1", "|u1", "|i1", "|u1"};
  std::string shape;
  for (int64_t dim : array.dims)
    shape += std::to_string(dim) + ", ";
  std::string header = std::string("{'descr': '") + kCodes[array.type] +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((header.size() + 1 + 10 + 63) / 64 * 64 - 10, ' ');
  header.back() = '\n';

  const std::vector<uint8_t> *bytes = &array.bytes;
  std::vector<uint8_t> unpacked;
  if (array.type == DLC_I4 || array.type == DLC_U4) {
    for (uint64_t i = 0; i < array.count(); i++)
      unpacked.push_back(uint8_t(int(array.at(i))));
    bytes = &unpacked;
  }
  std::ofstream file(path, std::ios::binary);
  const char magic[] = {'\x93',
                        'N',
                        'U',
                        'M',
                        'P',
                        'Y',
                        1,
                        0,
                        char(header.size() & 255),
                        char(header.size() >> 8)};
  file.write(magic, sizeof magic);
  file.write(header.data(), long(header.size()));
  file.write(reinterpret_cast<const char *>(bytes->data()),
             long(bytes->size()));
  file.close();
  if (!file)
    throw Failure("cannot write \"" + path + "\": " + strerror(errno));
}

// ---- .npz -------------------------------------------------------------------

template <class T>
static T load(const std::vector<uint8_t> &file, size_t at,
              const std::string &path) {
  T value;
  if (at > file.size() || file.size() - at < sizeof value)
    throw bad(path, "truncated");
  memcpy(&value, file.data() + at, sizeof value);
  return value;
}

std::vector<uint8_t> dlc::tools::readZipMember(const std::vector<uint8_t> &file,
                                               const std::string &key,
                                               const std::string &path) {
  // The end record is found from behind; then the central directory.
  size_t end = file.size() < 22 ? 0 : file.size() - 22 + 1;
  do {
    if (end == 0)
      throw bad(path, "not an .npz file");
    end--;
  } while (load<uint32_t>(file, end, path) != 0x06054b50);
  size_t entries = load<uint16_t>(file, end + 10, path);
  size_t at = load<uint32_t>(file, end + 16, path);
  std::string names;
  for (size_t i = 0; i < entries; i++) {
    if (load<uint32_t>(file, at, path) != 0x02014b50)
      throw bad(path, "the .npz directory is damaged");
    uint16_t method = load<uint16_t>(file, at + 10, path);
    uint64_t stored = load<uint32_t>(file, at + 20, path);
    uint64_t bytes = load<uint32_t>(file, at + 24, path);
    size_t nameBytes = load<uint16_t>(file, at + 28, path);
    size_t extra = load<uint16_t>(file, at + 30, path);
    size_t comment = load<uint16_t>(file, at + 32, path);
    size_t local = load<uint32_t>(file, at + 42, path);
    if (file.size() - at < 46 + nameBytes)
      throw bad(path, "truncated");
    std::string name(reinterpret_cast<const char *>(file.data()) + at + 46,
                     nameBytes);
    at += 46 + nameBytes + extra + comment;
    names += (names.empty() ? "" : ", ") + name.substr(0, name.rfind(".npy"));
    if (key.empty() ? entries != 1 : name != key + ".npy" && name != key)
      continue;
    size_t start = local + 30 + load<uint16_t>(file, local + 26, path) +
                   load<uint16_t>(file, local + 28, path);
    // What is over 4 GB has its sizes elsewhere.
    if (bytes == 0xffffffff || stored == 0xffffffff || start > file.size() ||
        stored > file.size() - start)
      throw bad(path, "\"" + name + "\" is truncated or over 4 GB");
    std::span<const uint8_t> data(file.data() + start, stored);
    if (method == 0)
      return {data.begin(), data.end()};
    std::optional<std::vector<uint8_t>> inflated;
    if (method == 8)
      inflated = inflate(data, bytes);
    if (!inflated)
      throw bad(path, "\"" + name +
                          "\" is damaged, or compressed in a way "
                          "that is not supported");
    return std::move(*inflated);
  }
  throw bad(path, key.empty()
                      ? "holds several arrays (" + names +
                            "): name one as FILE.npz:KEY"
                      : "has no array \"" + key + "\", it holds " + names);
}
