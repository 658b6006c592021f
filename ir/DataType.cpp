// SPDX-License-Identifier: Apache-2.0
// Element types of tensors.
#include "ir/DataType.h"

#include "ir/Check.h"

namespace dlc {

namespace {

enum class Class : uint8_t { Float, Signed, Unsigned, Bool };

struct Row {
  DataType type;
  llvm::StringRef name;
  uint8_t bits;
  Class kind;
};

constexpr Row rows[] = {
    {DataType::F64, "f64", 64, Class::Float},
    {DataType::F32, "f32", 32, Class::Float},
    {DataType::F16, "f16", 16, Class::Float},
    {DataType::BF16, "bf16", 16, Class::Float},
    {DataType::F8E4M3, "f8e4m3", 8, Class::Float},
    {DataType::F8E5M2, "f8e5m2", 8, Class::Float},
    {DataType::I64, "i64", 64, Class::Signed},
    {DataType::I32, "i32", 32, Class::Signed},
    {DataType::I16, "i16", 16, Class::Signed},
    {DataType::I8, "i8", 8, Class::Signed},
    {DataType::I4, "i4", 4, Class::Signed},
    {DataType::U64, "u64", 64, Class::Unsigned},
    {DataType::U32, "u32", 32, Class::Unsigned},
    {DataType::U16, "u16", 16, Class::Unsigned},
    {DataType::U8, "u8", 8, Class::Unsigned},
    {DataType::U4, "u4", 4, Class::Unsigned},
    {DataType::Bool, "bool", 8, Class::Bool},
};

const Row &row(DataType type) {
  const Row &r = rows[static_cast<size_t>(type)];
  DLC_CHECK(r.type == type) << "the rows must be in the order of DataType";
  return r;
}

} // namespace

llvm::StringRef stringify(DataType type) { return row(type).name; }

std::optional<DataType> parseDataType(llvm::StringRef text) {
  for (const Row &r : rows)
    if (r.name == text)
      return r.type;
  return std::nullopt;
}

unsigned bitWidth(DataType type) { return row(type).bits; }

int64_t byteSize(DataType type, int64_t count) {
  unsigned bits = bitWidth(type);
  if (bits >= 8)
    return count * (bits / 8);
  return count / 2 + count % 2;
}

bool isFloat(DataType type) { return row(type).kind == Class::Float; }

bool isInteger(DataType type) {
  return row(type).kind == Class::Signed || row(type).kind == Class::Unsigned;
}

bool isSigned(DataType type) {
  return row(type).kind == Class::Signed || isFloat(type);
}

DataType computeType(DataType type) {
  return isFloat(type) && bitWidth(type) < 32 ? DataType::F32 : type;
}

} // namespace dlc
