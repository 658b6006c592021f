// SPDX-License-Identifier: Apache-2.0
// The plan's generated classes, and the few constants the schema cannot say.
#pragma once

#include "runtime/plan/Limits.h"
#include "runtime/plan/plan_generated.h"

#include <cstdint>

namespace dlc::plan {

/// "No index" in a plan.
inline constexpr uint32_t kNone = 0xffffffff;

/// The schema that this tree writes, and the newest one that it reads.
inline constexpr uint32_t kSchemaVersion = 1;

/// The layout of the kernels' parameter structs.
inline constexpr uint32_t kKernelAbi = 1;

/// A kernel's parameter is smaller than this.
inline constexpr uint32_t kMaxParameterBytes = 4096;

/// Bits of one element; 4 for the packed types.
inline uint32_t elementBits(ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
    return 8;
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 16;
  case ElementType::I32:
  case ElementType::U32:
  case ElementType::F32:
    return 32;
  case ElementType::I64:
  case ElementType::U64:
  case ElementType::F64:
    return 64;
  case ElementType::I4:
  case ElementType::U4:
    return 4;
  }
  return 0;
}

/// The type as it is written in dlc's text form, "f32"; "?" for no such type.
const char *elementName(ElementType type);

} // namespace dlc::plan
