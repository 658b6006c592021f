// SPDX-License-Identifier: Apache-2.0
// The version of the compiler, set by CMake.
#pragma once

namespace dlc {
inline const char *version() { return DLC_VERSION; }
} // namespace dlc
