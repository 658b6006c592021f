// SPDX-License-Identifier: Apache-2.0
// Loops over the weights of a model.
#include "passes/NarrowFloat.h"

#include "ir/Check.h"

namespace dlc {

template <class Format>
static void roundAll(const uint8_t *from, uint16_t *to, size_t count) {
  for (size_t i = 0; i < count; ++i)
    to[i] = Format::round(loadF32(from, i));
}

void roundToNarrow(const uint8_t *from, uint16_t *to, size_t count,
                   DataType narrow) {
  DLC_CHECK(narrow == DataType::F16 || narrow == DataType::BF16);
  if (narrow == DataType::F16)
    roundAll<HalfFormat>(from, to, count);
  else
    roundAll<BrainFormat>(from, to, count);
}

float largestMagnitude(const uint8_t *values, size_t count) {
  // Sizes compare as their bits do.
  int32_t largest = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(loadF32(values, i));
    const auto size = int32_t(bits & 0x7fffffff);
    const auto finite = int32_t(select(size < 0x7f800000, uint32_t(size), 0));
    largest = finite > largest ? finite : largest;
  }
  return std::bit_cast<float>(largest);
}

} // namespace dlc
