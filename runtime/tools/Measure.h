// SPDX-License-Identifier: Apache-2.0
// dlc-run --bench and --profile.
#pragma once

#include "dlc/runtime.hpp"
#include "runtime/tools/Array.h"
#include "runtime/tools/RunOptions.h"

#include <map>

namespace dlc::tools {

/// Times runs with inputs and outputs on the device, and the transfers apart;
/// prints the figures.
void bench(Session &session, std::map<std::string, Array> &inputs,
           const RunOptions &options);

/// Runs step by step and prints where the time goes.
void profile(Session &session, const RunOptions &options);

} // namespace dlc::tools
