// SPDX-License-Identifier: Apache-2.0
// The layout of a bundle file, shared by the writer and the reader.
//
//   header, section table, then each section at the next multiple of its
//   alignment, zeros between. All numbers are little-endian. Every byte of the
//   file is covered: by the table's checksum, by a section's checksum, or by
//   the rule that padding is zero.
#pragma once

#include <cstdint>

namespace dlc::bundle {

/// The first bytes; as in PNG they show transfers that changed line ends.
inline constexpr uint8_t kMagic[8] = {0x89, 'D',  'L',  'C',
                                      '\r', '\n', 0x1a, '\n'};

/// The newest container version that this tree reads, and the one it writes.
inline constexpr uint32_t kFormatVersion = 1;

/// Weights start at multiples of this, in the file and in memory.
inline constexpr uint64_t kWeightAlignment = 256;

enum class SectionKind : uint32_t {
  Manifest = 1, ///< FlatBuffers, bundle.fbs; exactly one
  Plan = 2,     ///< FlatBuffers, plan.fbs
  Binaries = 3, ///< kernels of one variant
  Sources = 4,  ///< their readable sources
  Report = 5,   ///< why each decision was taken
  Model = 6,    ///< the imported model as text, without weights
  Tuning = 7,   ///< the text lockfile
  Weights = 8,  ///< the pool
};

struct Header {
  uint8_t magic[8];
  uint32_t formatVersion;
  uint32_t sections; ///< entries of the table, which follows at once
  uint64_t fileBytes;
  uint64_t checksum; ///< of header and table, with this field zero
};
static_assert(sizeof(Header) == 32);

struct Section {
  SectionKind kind;
  uint32_t alignment; ///< a power of two, 8 to 4096
  uint64_t offset;
  uint64_t bytes;
  uint64_t checksum; ///< of the bytes
};
static_assert(sizeof(Section) == 32);

/// No bundle has more sections than this.
inline constexpr uint32_t kMaxSections = 1 << 16;

inline constexpr uint64_t alignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

} // namespace dlc::bundle
