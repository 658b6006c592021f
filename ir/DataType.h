// SPDX-License-Identifier: Apache-2.0
// Element types of tensors.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace dlc {

enum class DataType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  I64,
  I32,
  I16,
  I8,
  I4,
  U64,
  U32,
  U16,
  U8,
  U4,
  Bool
};

/// "f32", "bf16", "i64", "bool" ...
llvm::StringRef stringify(DataType type);
std::optional<DataType> parseDataType(llvm::StringRef text);

/// Storage bits of one element: 64 ... 4; bool takes 8.
unsigned bitWidth(DataType type);
/// Bytes of `count` elements; 4-bit types are packed two to a byte.
int64_t byteSize(DataType type, int64_t count);
bool isFloat(DataType type);
/// Signed or unsigned integer; bool is none.
bool isInteger(DataType type);
bool isSigned(DataType type);
/// The type in which a fused body computes: f32 for narrower floats, else
/// itself.
DataType computeType(DataType type);

} // namespace dlc
