// SPDX-License-Identifier: Apache-2.0
// fast_exp2(x): 2^x within 2 units in the last place of a float, for softmax
// weights: results and arguments below the normal numbers are zero; inf, -inf
// and NaN as exp2 has them.
#pragma once
#include "dlc/types.cuh"

namespace dlc::dev {
#ifdef DLC_HOST
DLC_DEVICE float fast_exp2(float x) { return exp2f(x); }
#else
DLC_DEVICE float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#endif
} // namespace dlc::dev
