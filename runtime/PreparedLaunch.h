// SPDX-License-Identifier: Apache-2.0
// A launch step with everything filled in: grid and parameter struct.
#pragma once

#include "runtime/BufferTable.h"
#include "runtime/Program.h"

namespace dlc {

struct PreparedLaunch {
  alignas(64) uint8_t parameters[plan::kMaxParameterBytes];
  std::vector<KernelBuffer> buffers;
  KernelLaunch launch; ///< points into this object
  bool empty = false;  ///< a grid of zero blocks: nothing to do

  PreparedLaunch() = default;
  PreparedLaunch(const PreparedLaunch &) = delete;

  Status fill(Device &device, const Program &program, const BufferTable &table,
              const plan::ExpressionValues &values, const plan::LaunchT &step);

private:
  Status fillGrid(const plan::PlanT &plan, const plan::KernelT &kernel,
                  const plan::ExpressionValues &values,
                  const plan::LaunchT &step);
  Status fillMap(Device &device, const plan::PlanT &plan,
                 const BufferTable &table, const plan::ExpressionValues &values,
                 const plan::Patch &patch);
};

} // namespace dlc
