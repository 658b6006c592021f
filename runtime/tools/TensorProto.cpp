// SPDX-License-Identifier: Apache-2.0
// ONNX's TensorProto (.pb), read without protobuf: a dozen fields.
#include "runtime/tools/Array.h"

#include <cstring>
#include <iterator>

using namespace dlc::tools;

namespace {

/// Protobuf's wire format, field by field.
class Wire {
public:
  Wire(const uint8_t *data, size_t bytes, const std::string &path)
      : Data(data), End(data + bytes), Path(path) {}

  bool more() const { return Data < End; }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (Data == End)
        throw broken();
      uint8_t byte = *Data++;
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return value;
    }
    throw broken();
  }
  /// The bytes of a length-delimited field.
  Wire sub() {
    uint64_t bytes = varint();
    const uint8_t *start = take(bytes);
    return {start, size_t(bytes), Path};
  }
  const uint8_t *take(uint64_t bytes) {
    if (bytes > uint64_t(End - Data))
      throw broken();
    const uint8_t *start = Data;
    Data += bytes;
    return start;
  }
  void skip(int wireType) {
    if (wireType == 0)
      varint();
    else if (wireType == 1)
      take(8);
    else if (wireType == 2)
      sub();
    else if (wireType == 5)
      take(4);
    else
      throw broken();
  }
  size_t left() const { return size_t(End - Data); }
  Failure broken() const {
    return Failure("\"" + Path + "\": not an ONNX tensor, or truncated");
  }

private:
  const uint8_t *Data, *End;
  const std::string &Path;
};

/// TensorProto.DataType; -1 where dlc has no such type.
int typeOf(uint64_t onnx) {
  static const int kTypes[] = {
      -1,      DLC_F32,    DLC_U8, DLC_I8,   DLC_U16,  DLC_I16,
      DLC_I32, DLC_I64,    -1,     DLC_BOOL, DLC_F16,  DLC_F64,
      DLC_U32, DLC_U64,    -1,     -1,       DLC_BF16, DLC_F8E4M3,
      -1,      DLC_F8E5M2, -1,     DLC_U4,   DLC_I4};
  return onnx < std::size(kTypes) ? kTypes[onnx] : -1;
}

} // namespace

/// Appends the low `bytes` of each varint of a field, packed or not.
static void appendVarints(Wire &wire, int wireType, size_t bytes,
                          std::vector<uint8_t> &out) {
  auto append = [&](uint64_t value) {
    const auto *p = reinterpret_cast<const uint8_t *>(&value);
    out.insert(out.end(), p, p + bytes);
  };
  if (wireType != 2)
    return append(wire.varint());
  for (Wire packed = wire.sub(); packed.more();)
    append(packed.varint());
}

Array dlc::tools::parseTensorProto(const std::vector<uint8_t> &file,
                                   const std::string &path) {
  Wire wire(file.data(), file.size(), path);
  Array array;
  uint64_t onnxType = 0;
  bool isRaw = false;
  std::vector<uint8_t> wide; // int32_data and its like, as 8-byte values
  while (wire.more()) {
    uint64_t tag = wire.varint();
    int wireType = int(tag & 7);
    switch (tag >> 3) {
    case 1: { // dims
      std::vector<uint8_t> dims;
      appendVarints(wire, wireType, 8, dims);
      for (size_t i = 0; i + 8 <= dims.size(); i += 8) {
        int64_t dim;
        memcpy(&dim, dims.data() + i, 8);
        array.dims.push_back(dim);
      }
      break;
    }
    case 2:
      onnxType = wire.varint();
      break;
    case 4:    // float_data
    case 10: { // double_data
      uint64_t bytes = wireType == 2 ? wire.varint() : wireType == 1 ? 8 : 4;
      const uint8_t *p = wire.take(bytes);
      array.bytes.insert(array.bytes.end(), p, p + bytes);
      isRaw = true;
      break;
    }
    case 5:  // int32_data, of all types up to 32 bits
    case 7:  // int64_data
    case 11: // uint64_data
      appendVarints(wire, wireType, 8, wide);
      break;
    case 9: { // raw_data
      Wire data = wire.sub();
      size_t bytes = data.left();
      const uint8_t *p = data.take(bytes);
      array.bytes.assign(p, p + bytes);
      isRaw = true;
      break;
    }
    case 13:
    case 14:
      throw Failure("\"" + path + "\": external data is not supported here");
    default:
      wire.skip(wireType);
    }
  }
  int type = typeOf(onnxType);
  if (type < 0)
    throw Failure("\"" + path + "\": tensors of ONNX type " +
                  std::to_string(onnxType) + " are not supported");
  array.type = dlc_type(type);
  uint64_t expected = arrayBytes(array.type, array.dims, path);
  if (!isRaw) {
    size_t bits = dlc_type_bits(array.type), bytes = bits < 8 ? 1 : bits / 8;
    for (size_t i = 0; i + 8 <= wide.size(); i += 8)
      array.bytes.insert(array.bytes.end(), wide.begin() + long(i),
                         wide.begin() + long(i + bytes));
  }
  if (array.bytes.size() != expected)
    throw Failure(
        "\"" + path + "\": got " + std::to_string(array.bytes.size()) +
        " bytes of data, expected " + std::to_string(expected) + " for " +
        shapeText(array.dims) + " of " + dlc_type_name(array.type));
  return array;
}
