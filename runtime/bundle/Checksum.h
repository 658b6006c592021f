// SPDX-License-Identifier: Apache-2.0
// The 64-bit checksum of a bundle's sections and the SHA-256 of its weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dlc::bundle {

/// XXH64 with seed 0, a piece at a time: guards against accidents, not against
/// attackers (https://github.com/Cyan4973/xxHash, its specification).
class Checksum {
public:
  void update(std::span<const uint8_t> bytes);
  uint64_t value() const;

private:
  uint64_t Lanes[4] = {0x60EA27EEADC0B5D6, 0xC2B2AE3D27D4EB4F, 0,
                       0x61C8864E7A143579};
  uint8_t Rest[32] = {};
  uint64_t Bytes = 0;
};

/// The checksum of one piece.
uint64_t checksum(std::span<const uint8_t> bytes);

using Hash = std::array<uint8_t, 32>;

/// FIPS 180-4. \param plainly without the processor's own instructions for it.
Hash sha256(std::span<const uint8_t> bytes, bool plainly = false);

} // namespace dlc::bundle
