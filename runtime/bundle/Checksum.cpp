// SPDX-License-Identifier: Apache-2.0
// The 64-bit checksum of a bundle's sections and the SHA-256 of its weights.
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

// ---- SHA-256 ----------------------------------------------------------------

static constexpr uint32_t kSha[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static void shaBlock(uint32_t (&state)[8], const uint8_t *p) {
  uint32_t w[64];
  for (int i = 0; i < 16; i++)
    w[i] = __builtin_bswap32(load<uint32_t>(p + 4 * i));
  for (int i = 16; i < 64; i++) {
    uint32_t s0 =
        std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t s1 =
        std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int i = 0; i < 64; i++) {
    uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kSha[i] + w[i];
    uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; i++)
    state[i] += sums[i];
}

Hash dlc::bundle::sha256(std::span<const uint8_t> bytes) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint8_t *p = bytes.data();
  size_t rest = bytes.size();
  for (; rest >= 64; rest -= 64, p += 64)
    shaBlock(state, p);
  uint8_t tail[128] = {};
  if (rest)
    memcpy(tail, p, rest);
  tail[rest] = 0x80;
  size_t tailBytes = rest < 56 ? 64 : 128;
  uint64_t bits = __builtin_bswap64(uint64_t(bytes.size()) * 8);
  memcpy(tail + tailBytes - 8, &bits, 8);
  for (size_t at = 0; at < tailBytes; at += 64)
    shaBlock(state, tail + at);
  Hash hash;
  for (int i = 0; i < 8; i++) {
    uint32_t word = __builtin_bswap32(state[i]);
    memcpy(hash.data() + 4 * i, &word, 4);
  }
  return hash;
}
