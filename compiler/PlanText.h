// SPDX-License-Identifier: Apache-2.0
// A plan as text, for `dlc --emit=plan` and for tests.
#pragma once

#include "runtime/plan/Plan.h"
#include "llvm/Support/raw_ostream.h"

namespace dlc {

/// Buffers, then the steps in order, sizes as expressions.
void printPlan(const plan::PlanT &plan, llvm::raw_ostream &os);

} // namespace dlc
