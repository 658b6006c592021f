// SPDX-License-Identifier: Apache-2.0
// The 64-bit checksum of a bundle's sections.
#include "runtime/bundle/Checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace dlc::bundle;

static_assert(std::endian::native == std::endian::little);

// ---- XXH64 ------------------------------------------------------------------

static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
static constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
static constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
static constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

template <class T> static T load(const uint8_t *p) {
  T value;
  memcpy(&value, p, sizeof value);
  return value;
}

static uint64_t xxhRound(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

static void xxhStripe(uint64_t (&lanes)[4], const uint8_t *p) {
  for (int i = 0; i < 4; i++)
    lanes[i] = xxhRound(lanes[i], load<uint64_t>(p + 8 * i));
}

void Checksum::update(std::span<const uint8_t> bytes) {
  const uint8_t *p = bytes.data(), *end = p + bytes.size();
  size_t kept = Bytes % 32;
  Bytes += bytes.size();
  if (kept) {
    size_t taken = std::min<size_t>(32 - kept, bytes.size());
    if (taken)
      memcpy(Rest + kept, p, taken);
    if (kept + taken < 32)
      return;
    xxhStripe(Lanes, Rest);
    p += taken;
  }
  for (; end - p >= 32; p += 32)
    xxhStripe(Lanes, p);
  if (p < end)
    memcpy(Rest, p, size_t(end - p));
}

uint64_t Checksum::value() const {
  uint64_t hash = kPrime5;
  if (Bytes >= 32) {
    hash = std::rotl(Lanes[0], 1) + std::rotl(Lanes[1], 7) +
           std::rotl(Lanes[2], 12) + std::rotl(Lanes[3], 18);
    for (uint64_t lane : Lanes)
      hash = (hash ^ xxhRound(0, lane)) * kPrime1 + kPrime4;
  }
  hash += Bytes;
  const uint8_t *p = Rest, *end = Rest + Bytes % 32;
  for (; end - p >= 8; p += 8)
    hash = std::rotl(hash ^ xxhRound(0, load<uint64_t>(p)), 27) * kPrime1 +
           kPrime4;
  if (end - p >= 4) {
    hash =
        std::rotl(hash ^ load<uint32_t>(p) * kPrime1, 23) * kPrime2 + kPrime3;
    p += 4;
  }
  for (; p < end; p++)
    hash = std::rotl(hash ^ *p * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

uint64_t dlc::bundle::checksum(std::span<const uint8_t> bytes) {
  Checksum sum;
  sum.update(bytes);
  return sum.value();
}
