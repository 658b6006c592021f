// SPDX-License-Identifier: Apache-2.0
// Whether an output is what was expected.
#include "runtime/tools/Compare.h"

#include <cmath>
#include <cstdio>

using namespace dlc::tools;

double dlc::tools::toleranceOf(const std::string &precision, dlc_type type) {
  if (precision == "bf16" || type == DLC_BF16)
    return 5e-2;
  if (precision == "fp16" || type == DLC_F16)
    return 1e-2;
  return precision == "tf32" ? 5e-3 : 1e-4;
}

static bool isFloat(dlc_type type) {
  return type >= DLC_F16 && type <= DLC_F8E5M2;
}

static std::string number(const char *format, double value) {
  char text[64];
  snprintf(text, sizeof text, format, value);
  return text;
}

Comparison dlc::tools::compare(const Array &out, const Array &expected,
                               double tolerance) {
  Comparison result;
  if (out.dims != expected.dims) {
    result.sentence = "got shape " + shapeText(out.dims) + ", expected " +
                      shapeText(expected.dims);
    return result;
  }
  uint64_t count = expected.count();
  double squares = 0, difference = 0;
  uint64_t finite = 0;
  for (uint64_t i = 0; i < count; i++) {
    double a = out.at(i), b = expected.at(i);
    bool isFinite = std::isfinite(b);
    if (isFinite != std::isfinite(a) || (!isFinite && a != b && a == a) ||
        std::isnan(a) != std::isnan(b)) {
      result.norm = result.worst = INFINITY;
      result.worstAt = i;
      result.sentence = "element " + std::to_string(i) + " is " +
                        number("%g", a) + ", expected " + number("%g", b);
      return result;
    }
    if (!isFinite)
      continue;
    squares += b * b;
    difference += (a - b) * (a - b);
    finite++;
  }
  double rms = finite ? std::sqrt(squares / double(finite)) : 0;
  result.norm = difference == 0 ? 0 : std::sqrt(difference / squares);
  bool isExact = !isFloat(out.type) || !isFloat(expected.type);
  uint64_t different = 0;
  for (uint64_t i = 0; i < count; i++) {
    double a = out.at(i), b = expected.at(i);
    if (!std::isfinite(b) || a == b)
      continue;
    different++;
    double bound = isExact ? 0 : 8 * tolerance * (std::fabs(b) + rms);
    double units = bound > 0 ? std::fabs(a - b) / bound : INFINITY;
    if (units > result.worst) {
      result.worst = units;
      result.worstAt = i;
    }
  }
  result.isEqual =
      isExact ? different == 0 : result.norm <= tolerance && result.worst <= 1;
  if (isExact)
    result.sentence = std::to_string(different) + " of " +
                      std::to_string(count) + " elements differ";
  else
    result.sentence = "error " + number("%.2e", result.norm) + " (bound " +
                      number("%.0e", tolerance) + "), worst element at " +
                      number("%.3g", result.worst) + " of its bound";
  if (!result.isEqual)
    result.sentence += ": element " + std::to_string(result.worstAt) + " is " +
                       number("%g", out.at(result.worstAt)) + ", expected " +
                       number("%g", expected.at(result.worstAt));
  return result;
}
