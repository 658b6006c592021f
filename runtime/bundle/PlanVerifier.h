// SPDX-License-Identifier: Apache-2.0
// Checks every index and range of a plan that does not depend on shapes.
#pragma once

#include "runtime/Status.h"
#include "runtime/plan/Plan.h"

#include <cstddef>

namespace dlc::bundle {

/// What surrounds a plan in its variant.
struct PlanContext {
  size_t binaries = 0;
  size_t sources = 0;
};

/// A plan that passes may be executed without looking at an index again. What
/// depends on shapes (sizes, offsets, grids) is checked when they are known.
/// Fails with DLC_BAD_BUNDLE.
Status verifyPlan(const plan::PlanT &plan, const PlanContext &context);

} // namespace dlc::bundle
