// SPDX-License-Identifier: Apache-2.0
// Tensors in NumPy's .npy files.
#include "compiler/tools/Npy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstring>

namespace dlc {

using llvm::StringRef;
using reference::Tensor;

static constexpr StringRef kMagic("\x93NUMPY", 6);

namespace {

/// NumPy's name for a type. Ones without a name are bytes of their size.
struct Name {
  StringRef descr;
  DataType type;
};
constexpr Name kNames[] = {{"<f8", DataType::F64},    {"<f4", DataType::F32},
                           {"<f2", DataType::F16},    {"|V2", DataType::BF16},
                           {"|V1", DataType::F8E4M3}, {"|V1", DataType::F8E5M2},
                           {"<i8", DataType::I64},    {"<i4", DataType::I32},
                           {"<i2", DataType::I16},    {"|i1", DataType::I8},
                           {"|V1", DataType::I4},     {"<u8", DataType::U64},
                           {"<u4", DataType::U32},    {"<u2", DataType::U16},
                           {"|u1", DataType::U8},     {"|V1", DataType::U4},
                           {"|b1", DataType::Bool}};

/// The header of a file: what follows is data.
struct Header {
  StringRef descr;
  bool fortran = false;
  std::vector<int64_t> shape;
  size_t dataOffset = 0;
};

llvm::Error fault(StringRef path, const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 path + ": " + text);
}

/// The text after `'key':` in a Python dictionary.
StringRef valueOf(StringRef dictionary, StringRef key) {
  size_t at = dictionary.find(("'" + key + "'").str());
  if (at == StringRef::npos)
    return {};
  dictionary = dictionary.drop_front(at + key.size() + 2);
  return dictionary.drop_front(dictionary.find(':') + 1).ltrim();
}

std::optional<Header> parseHeader(StringRef bytes) {
  if (bytes.size() < 10 || !bytes.starts_with(kMagic))
    return std::nullopt;
  auto byte = [&](size_t i) { return size_t(uint8_t(bytes[i])); };
  size_t length = byte(8) | byte(9) << 8, start = 10;
  if (byte(6) >= 2) {
    if (bytes.size() < 12)
      return std::nullopt;
    length |= byte(10) << 16 | byte(11) << 24;
    start = 12;
  }
  if (bytes.size() - start < length)
    return std::nullopt;
  StringRef text = bytes.substr(start, length);
  Header header;
  header.dataOffset = start + length;
  StringRef descr = valueOf(text, "descr"), shape = valueOf(text, "shape");
  if (!descr.consume_front("'") || !shape.consume_front("("))
    return std::nullopt;
  header.descr = descr.take_until([](char c) { return c == '\''; });
  header.fortran = valueOf(text, "fortran_order").starts_with("True");
  for (StringRef part :
       llvm::split(shape.take_until([](char c) { return c == ')'; }), ",")) {
    int64_t size;
    if (part.trim().empty())
      continue;
    if (part.trim().getAsInteger(10, size) || size < 0)
      return std::nullopt;
    header.shape.push_back(size);
  }
  return header;
}

std::optional<DataType> typeOf(StringRef descr,
                               std::optional<DataType> expected) {
  for (const Name &name : kNames)
    if (name.descr == descr && name.type == expected)
      return name.type;
  for (const Name &name : kNames)
    if (name.descr.drop_front() == descr.drop_front() &&
        (descr[0] != '>' || bitWidth(name.type) == 8) && descr[1] != 'V')
      return name.type;
  return std::nullopt;
}

/// Bytes of `count` elements in the file.
int64_t fileBytes(DataType type, int64_t count) {
  return bitWidth(type) == 4 ? count : byteSize(type, count);
}

bool countOf(const std::vector<int64_t> &shape, int64_t &count) {
  count = 1;
  for (int64_t d : shape)
    if (__builtin_mul_overflow(count, d, &count) || count > INT64_MAX / 8)
      return false;
  return true;
}

/// The elements of a column-major array in row-major order.
Tensor transposed(const Tensor &t) {
  Tensor result(t.element(), t.shape());
  int64_t size = byteSize(t.element(), 1);
  std::vector<int64_t> index(t.rank());
  uint8_t *to = result.data();
  for (int64_t i = 0; i < t.elements(); i++) {
    int64_t at = 0;
    for (int64_t d = t.rank() - 1; d >= 0; d--)
      at = at * t.shape()[d] + index[d];
    std::memcpy(to + i * size, t.data() + at * size, size);
    for (int64_t d = t.rank() - 1; d >= 0 && ++index[d] == t.shape()[d]; d--)
      index[d] = 0;
  }
  return result;
}

} // namespace

llvm::Expected<Tensor> readNpy(StringRef path,
                               std::optional<DataType> expected) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return fault(path, file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  std::optional<Header> header = parseHeader(bytes);
  if (!header)
    return fault(path, "not an .npy file");
  std::optional<DataType> type = header->descr.size() == 3
                                     ? typeOf(header->descr, expected)
                                     : std::nullopt;
  if (!type)
    return fault(path, "element type " + header->descr +
                           " is not supported: expected numbers or bool, "
                           "little endian");
  int64_t count;
  if (!countOf(header->shape, count))
    return fault(path, "the shape has more elements than memory can hold");
  StringRef data = bytes.drop_front(header->dataOffset);
  if (int64_t(data.size()) < fileBytes(*type, count))
    return fault(path, "truncated: expected " +
                           llvm::Twine(fileBytes(*type, count)) +
                           " bytes of data, got " + llvm::Twine(data.size()));
  Tensor tensor(*type, header->shape);
  if (bitWidth(*type) == 4) {
    for (int64_t i = 0; i < count; i++)
      tensor.setInt(i, data[i]);
    return tensor;
  }
  if (count)
    std::memcpy(tensor.data(), data.data(), tensor.byteSize());
  return header->fortran ? transposed(tensor) : tensor;
}

llvm::Error writeNpy(StringRef path, const Tensor &tensor) {
  StringRef descr;
  for (const Name &name : kNames)
    if (name.type == tensor.element())
      descr = name.descr;
  std::string shape;
  for (int64_t d : tensor.shape())
    shape += std::to_string(d) + ", ";
  if (tensor.rank() > 1)
    shape.resize(shape.size() - 2);
  std::string text = ("{'descr': '" + descr + "', 'fortran_order': False, " +
                      "'shape': (" + shape + "), }")
                         .str();
  // Data starts at a multiple of 64 bytes.
  size_t length = 10 + text.size() + 1;
  text.append((64 - length % 64) % 64, ' ');
  text += '\n';
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return fault(path, error.message());
  os << kMagic << '\1' << '\0' << char(text.size() & 255)
     << char(text.size() >> 8) << text;
  if (bitWidth(tensor.element()) == 4) {
    for (int64_t i = 0; i < tensor.elements(); i++)
      os << char(tensor.intAt(i));
  } else {
    os.write(reinterpret_cast<const char *>(tensor.data()),
             size_t(tensor.byteSize()));
  }
  os.close();
  if (os.has_error()) {
    error = os.error();
    os.clear_error();
    return fault(path, error.message());
  }
  return llvm::Error::success();
}

std::string npyPath(StringRef folder, StringRef name) {
  std::string file = name.str() + ".npy";
  for (size_t i = 0; i < name.size(); i++)
    if (!llvm::isAlnum(file[i]))
      file[i] = '_';
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, file);
  return std::string(path);
}

} // namespace dlc
