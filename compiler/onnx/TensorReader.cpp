// SPDX-License-Identifier: Apache-2.0
// TensorProto to Constant, with every size checked.
#include "compiler/onnx/TensorReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace dlc;

static constexpr struct {
  int number;
  const char *name;
  std::optional<DataType> type;
} kTypes[] = {
    {1, "FLOAT", DataType::F32},
    {2, "UINT8", DataType::U8},
    {3, "INT8", DataType::I8},
    {4, "UINT16", DataType::U16},
    {5, "INT16", DataType::I16},
    {6, "INT32", DataType::I32},
    {7, "INT64", DataType::I64},
    {8, "STRING", std::nullopt},
    {9, "BOOL", DataType::Bool},
    {10, "FLOAT16", DataType::F16},
    {11, "DOUBLE", DataType::F64},
    {12, "UINT32", DataType::U32},
    {13, "UINT64", DataType::U64},
    {14, "COMPLEX64", std::nullopt},
    {15, "COMPLEX128", std::nullopt},
    {16, "BFLOAT16", DataType::BF16},
    {17, "FLOAT8E4M3FN", DataType::F8E4M3},
    {18, "FLOAT8E4M3FNUZ", std::nullopt},
    {19, "FLOAT8E5M2", DataType::F8E5M2},
    {20, "FLOAT8E5M2FNUZ", std::nullopt},
    {21, "UINT4", DataType::U4},
    {22, "INT4", DataType::I4},
    {23, "FLOAT4E2M1", std::nullopt},
    {24, "FLOAT8E8M0", std::nullopt},
    {25, "UINT2", std::nullopt},
    {26, "INT2", std::nullopt},
};

std::optional<DataType> dlc::elementTypeOf(int onnxType) {
  for (const auto &entry : kTypes)
    if (entry.number == onnxType)
      return entry.type;
  return std::nullopt;
}

std::string dlc::onnxTypeName(int onnxType) {
  for (const auto &entry : kTypes)
    if (entry.number == onnxType)
      return entry.name;
  return std::to_string(onnxType);
}

std::string dlc::unsupportedType(int onnxType) {
  std::string text = "element type " + onnxTypeName(onnxType) +
                     " is not supported: supported are ";
  bool first = true;
  for (const auto &entry : kTypes) {
    if (!entry.type)
      continue;
    text += (first ? "" : ", ") + std::string(entry.name);
    first = false;
  }
  return text;
}

static llvm::Error fault(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Elements of `dims`, or an error where a size is negative or the bytes
/// overflow.
static llvm::Expected<int64_t>
countElements(const google::protobuf::RepeatedField<int64_t> &dims) {
  int64_t count = 1;
  for (int64_t size : dims) {
    if (size < 0)
      return fault("dimension " + llvm::Twine(size) + " is negative");
    if (llvm::MulOverflow(count, size, count) || count > INT64_MAX / 8)
      return fault("dimensions overflow: their product exceeds 2^60");
  }
  return count;
}

/// Copies the low bytes of each value: values of the repeated field `from` are
/// little endian and at least as wide as an element.
template <class T>
static std::vector<uint8_t> narrow(const T &from, unsigned bytesEach) {
  std::vector<uint8_t> out(size_t(from.size()) * bytesEach);
  for (int i = 0; i < from.size(); ++i) {
    auto value = from.Get(i);
    std::memcpy(out.data() + size_t(i) * bytesEach, &value, bytesEach);
  }
  return out;
}

/// The bytes of a tensor whose values stand in the typed lists.
static std::vector<uint8_t> typedBytes(const onnx::TensorProto &tensor,
                                       DataType type) {
  switch (type) {
  case DataType::F32:
    return narrow(tensor.float_data(), 4);
  case DataType::F64:
    return narrow(tensor.double_data(), 8);
  case DataType::I64:
    return narrow(tensor.int64_data(), 8);
  case DataType::U64:
  case DataType::U32:
    return narrow(tensor.uint64_data(), bitWidth(type) / 8);
  case DataType::I32:
    return narrow(tensor.int32_data(), 4);
  case DataType::F16:
  case DataType::BF16:
  case DataType::I16:
  case DataType::U16:
    return narrow(tensor.int32_data(), 2);
  default: // bytes, and two 4-bit elements in each
    return narrow(tensor.int32_data(), 1);
  }
}

llvm::Expected<Constant> TensorReader::read(const onnx::TensorProto &tensor) {
  std::optional<DataType> element = elementTypeOf(tensor.data_type());
  if (!element)
    return fault(unsupportedType(tensor.data_type()));
  llvm::Expected<int64_t> count = countElements(tensor.dims());
  if (!count)
    return count.takeError();
  TensorType type(*element, {});
  for (int64_t size : tensor.dims())
    type.shape.push_back(size);
  int64_t expected = byteSize(*element, *count);

  std::shared_ptr<const ConstantBytes> bytes;
  if (tensor.data_location() == 1) {
    auto external = readExternal(tensor, expected);
    if (!external)
      return external.takeError();
    bytes = std::move(*external);
  } else if (tensor.has_mapped_bytes()) {
    uint64_t size = file.buffer()->getBufferSize();
    uint64_t offset = tensor.mapped_offset(), length = tensor.mapped_bytes();
    if (offset > size || length > size - offset)
      return fault("its data lies outside the file");
    bytes = std::make_shared<MappedBytes>(
        file.buffer(),
        llvm::ArrayRef<uint8_t>(
            reinterpret_cast<const uint8_t *>(file.buffer()->getBufferStart()) +
                offset,
            length));
  } else if (tensor.has_raw_data()) {
    bytes = ConstantBytes::own(std::vector<uint8_t>(tensor.raw_data().begin(),
                                                    tensor.raw_data().end()));
  } else {
    bytes = ConstantBytes::own(typedBytes(tensor, *element));
  }
  if (int64_t(bytes->bytes().size()) != expected)
    return fault("its data has " + llvm::Twine(bytes->bytes().size()) +
                 " bytes, its type " + type.str() + " needs " +
                 llvm::Twine(expected));
  // A bool is 0 or 1 here; ONNX lets any byte stand for true.
  if (*element == DataType::Bool &&
      llvm::any_of(bytes->bytes(), [](uint8_t b) { return b > 1; })) {
    std::vector<uint8_t> copy = bytes->bytes().vec();
    for (uint8_t &b : copy)
      b = b != 0;
    bytes = ConstantBytes::own(std::move(copy));
  }
  return Constant(type, std::move(bytes));
}

llvm::Expected<Constant>
TensorReader::read(const onnx::SparseTensorProto &tensor) {
  llvm::Expected<Constant> values = read(tensor.values());
  if (!values)
    return values.takeError();
  llvm::Expected<Constant> indices = read(tensor.indices());
  if (!indices)
    return indices.takeError();
  llvm::Expected<int64_t> count = countElements(tensor.dims());
  if (!count)
    return count.takeError();
  DataType element = values->type().element;
  TensorType type(element, {});
  for (int64_t size : tensor.dims())
    type.shape.push_back(size);
  int64_t given = values->elements(), rank = type.rank();
  bool linear = indices->type().rank() == 1;
  if (indices->type().element != DataType::I64 || bitWidth(element) < 8 ||
      indices->elements() != given * (linear ? 1 : rank))
    return fault("sparse tensor: its indices do not fit its values");
  if (*count > (int64_t(1) << 31))
    return fault("sparse tensor: too large to be stored dense");
  std::vector<uint8_t> bytes(byteSize(element, *count));
  size_t each = bitWidth(element) / 8;
  std::vector<uint8_t> from = values->expandedBytes();
  for (int64_t i = 0; i < given; ++i) {
    int64_t at = linear ? indices->intAt(i) : 0;
    for (int64_t d = 0; !linear && d < rank; ++d) {
      int64_t index = indices->intAt(i * rank + d);
      if (index < 0 || index >= tensor.dims(int(d)))
        return fault("sparse tensor: index " + llvm::Twine(index) +
                     " is out of range");
      at = at * tensor.dims(int(d)) + index;
    }
    if (at < 0 || at >= *count)
      return fault("sparse tensor: index " + llvm::Twine(at) +
                   " is out of range");
    std::memcpy(bytes.data() + size_t(at) * each,
                from.data() + size_t(i) * each, each);
  }
  return Constant::fromBytes(type, std::move(bytes));
}
