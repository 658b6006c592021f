// SPDX-License-Identifier: Apache-2.0
// SHA-256, FIPS 180-4, by the processor's own instructions where it has them.
#include "runtime/bundle/Checksum.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

using namespace dlc::bundle;

static_assert(std::endian::native == std::endian::little);

alignas(16) static constexpr uint32_t kSha[64] = {
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

static uint32_t bigEndian(const uint8_t *p) {
  uint32_t word;
  memcpy(&word, p, sizeof word);
  return __builtin_bswap32(word);
}

static void shaBlock(uint32_t (&state)[8], const uint8_t *p) {
  uint32_t w[64];
  for (int i = 0; i < 16; i++)
    w[i] = bigEndian(p + 4 * i);
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

static void hashPlainly(uint32_t (&state)[8], const uint8_t *p, size_t blocks) {
  for (; blocks; blocks--, p += 64)
    shaBlock(state, p);
}

#if defined(__x86_64__)
__attribute__((target("sha,sse4.1,ssse3"))) static void
hashByInstructions(uint32_t (&state)[8], const uint8_t *p, size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto *words = reinterpret_cast<__m128i *>(state);
  // The instructions want a, b, e, f in one register and c, d, g, h in another.
  __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(low, high, 8);
  __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
  for (; blocks; blocks--, p += 64) {
    __m128i before0 = abef, before1 = cdgh;
    __m128i w[4]; // the last sixteen words of the schedule, as a ring
    for (int group = 0; group < 16; group++) {
      __m128i &next = w[group % 4];
      if (group < 4) {
        next = _mm_shuffle_epi8(
            _mm_loadu_si128(reinterpret_cast<const __m128i *>(p) + group),
            swap);
      } else {
        __m128i sum = _mm_sha256msg1_epu32(next, w[(group + 1) % 4]);
        sum = _mm_add_epi32(
            sum, _mm_alignr_epi8(w[(group + 3) % 4], w[(group + 2) % 4], 4));
        next = _mm_sha256msg2_epu32(sum, w[(group + 3) % 4]);
      }
      __m128i round = _mm_add_epi32(
          next,
          _mm_load_si128(reinterpret_cast<const __m128i *>(kSha) + group));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, round);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(round, 0x0e));
    }
    abef = _mm_add_epi32(abef, before0);
    cdgh = _mm_add_epi32(cdgh, before1);
  }
  low = _mm_shuffle_epi32(abef, 0x1b);
  high = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(low, high, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(high, low, 8));
}

static bool hasInstructions() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1) || !(c & bit_SSSE3))
    return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}
#else
static void hashByInstructions(uint32_t (&state)[8], const uint8_t *p,
                               size_t blocks) {
  hashPlainly(state, p, blocks);
}

static bool hasInstructions() { return false; }
#endif

Hash dlc::bundle::sha256(std::span<const uint8_t> bytes, bool plainly) {
  static const bool has = hasInstructions();
  auto hash = has && !plainly ? hashByInstructions : hashPlainly;
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  size_t blocks = bytes.size() / 64, rest = bytes.size() % 64;
  hash(state, bytes.data(), blocks);
  uint8_t tail[128] = {};
  if (rest)
    memcpy(tail, bytes.data() + blocks * 64, rest);
  tail[rest] = 0x80;
  size_t tailBlocks = rest < 56 ? 1 : 2;
  uint64_t bits = __builtin_bswap64(uint64_t(bytes.size()) * 8);
  memcpy(tail + tailBlocks * 64 - 8, &bits, 8);
  hash(state, tail, tailBlocks);
  Hash result;
  for (int i = 0; i < 8; i++) {
    uint32_t word = __builtin_bswap32(state[i]);
    memcpy(result.data() + 4 * i, &word, 4);
  }
  return result;
}
