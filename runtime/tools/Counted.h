// SPDX-License-Identifier: Apache-2.0
// "1 kernel", "3 kernels": counts as the tools print them.
#pragma once

#include <cstddef>
#include <string>

namespace dlc::tools {

/// \p what in the singular; its plural is made by an s, or is given.
inline std::string counted(size_t n, const std::string &what,
                           const std::string &plural = "") {
  return std::to_string(n) + " " +
         (n == 1           ? what
          : plural.empty() ? what + "s"
                           : plural);
}

} // namespace dlc::tools
