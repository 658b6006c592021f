// SPDX-License-Identifier: Apache-2.0
// Whether an output is what was expected (docs: --tolerance of dlc-run).
#pragma once

#include "runtime/tools/Array.h"

namespace dlc::tools {

struct Comparison {
  bool isEqual = false; ///< within both bounds
  double norm = 0;      ///< ||out - expected|| / ||expected||
  double worst = 0;     ///< the worst element, in units of its bound
  uint64_t worstAt = 0; ///< its linear index
  std::string sentence; ///< what was found
};

/// Integers and bools must be equal; floats within `tolerance` t in the norm
/// and 8 t (|expected| + rms(expected)) for each element. NaN and infinity
/// must stand in the same places. Shapes must be the same.
Comparison compare(const Array &out, const Array &expected, double tolerance);

/// For an output of this type of a whole model at a precision, by name; other
/// names than lowered precisions leave it to the type.
double toleranceOf(const std::string &precision, dlc_type type);

} // namespace dlc::tools
