// SPDX-License-Identifier: Apache-2.0
// The command line of dlc-run.
#pragma once

#include "dlc/runtime.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlc::tools {

struct RunOptions {
  std::string bundle;
  std::map<std::string, std::string> inputs;  ///< name -> file
  std::map<std::string, std::string> expects; ///< name -> file
  std::map<std::string, std::vector<int64_t>> shapes;
  struct Range {
    double low, high;
  };
  std::map<std::string, Range> ranges;
  std::string save;     ///< folder; "": do not
  double tolerance = 0; ///< 0: that of the variant's precision
  uint64_t seed = 0;
  dlc_device device = DLC_DEVICE_AUTO;
  int deviceIndex = 0;
  std::string target, precision;
  int variant = -1;
  int threads = 0;
  uint64_t adversarialSeed = 0;
  bool bench = false, profile = false, list = false, graphs = true;
  bool quiet = false, verbose = false;
  double warmup = 0.2, duration = 2; ///< seconds
  int iterations = 0;                ///< 0: as many as fit into duration
  int repeat = 1;                    ///< runs before outputs are looked at
};

enum class Parsed { Run, Done, Wrong };

/// Reads the arguments; prints help and version, or what is wrong with them.
Parsed parseArguments(int argc, char **argv, RunOptions &options);

} // namespace dlc::tools
