// SPDX-License-Identifier: Apache-2.0
// An input and an output that become one state kept by the session.
#pragma once

#include <string>

namespace dlc {

/// The output of one run is the input of the next; the first run sees zeros.
/// Both go from the session's inputs and outputs. They have one type.
struct StateBinding {
  std::string input, output;
};

} // namespace dlc
