// SPDX-License-Identifier: Apache-2.0
// Decompression of DEFLATE (RFC 1951), for .npz files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlc::tools {

/// The bytes behind a DEFLATE stream; nothing when it is damaged or does not
/// hold exactly `size` bytes.
std::optional<std::vector<uint8_t>> inflate(std::span<const uint8_t> stream,
                                            size_t size);

} // namespace dlc::tools
