// SPDX-License-Identifier: Apache-2.0
// The device headers as text inside this library: NVRTC takes them in memory,
// the host's compiler from a folder into which they are written.
#pragma once
#include <string_view>
#include <vector>

namespace dlc {
struct DeviceHeader {
  std::string_view name; ///< as included: "dlc/types.cuh"
  std::string_view text; ///< null-terminated
};
/// All of them, in a fixed order.
const std::vector<DeviceHeader> &deviceHeaders();
} // namespace dlc
