// SPDX-License-Identifier: Apache-2.0
// Calls the ops that pointwise-op.td adds.
#include "ir/scalar/Scalar.h"
#include <cstdio>

using namespace dlc;

int main() {
  std::printf("soft_ratio %g %g %g\n", scalar::soft_ratio(-3.0f),
              scalar::soft_ratio(1.0f), scalar::soft_ratio(15.0));
  std::printf("limit_if %d %d\n", scalar::limit_if(true, 9, -2, 5),
              scalar::limit_if(false, 9, -2, 5));
  std::printf("switch_ %d %d\n", scalar::switch_(-0.5, 2.0),
              scalar::switch_(7u, 8u));
}
