// SPDX-License-Identifier: Apache-2.0
// A launch step with everything filled in: grid and parameter struct.
#include "runtime/PreparedLaunch.h"

#include <cstring>

using namespace dlc;
using namespace dlc::plan;

Status PreparedLaunch::fillGrid(const PlanT &plan, const KernelT &kernel,
                                const ExpressionValues &values,
                                const LaunchT &step) {
  const uint32_t expressions[3] = {step.grid_x, step.grid_y, step.grid_z};
  const int64_t limits[3] = {INT32_MAX, 65535, 65535};
  empty = false;
  for (int axis = 0; axis < 3; axis++) {
    int64_t blocks = 0;
    DLC_RETURN_IF_FAILED(
        valueOf(plan, values, expressions[axis], "grid", blocks));
    if (blocks < 0 || blocks > limits[axis])
      return Status(DLC_BAD_INPUT,
                    say("a grid of ", blocks, " blocks along axis ", axis,
                        ", expected at most ", limits[axis]));
    launch.grid[axis] = uint32_t(blocks);
    empty |= blocks == 0;
  }
  if (launch.grid[0] % kernel.cluster != 0)
    return Status(DLC_BAD_BUNDLE,
                  say("a grid of ", launch.grid[0], " blocks in clusters of ",
                      kernel.cluster));
  return Status();
}

Status PreparedLaunch::fillMap(Device &device, const PlanT &plan,
                               const BufferTable &table,
                               const ExpressionValues &values,
                               const Patch &patch) {
  const TensorMapT &map = *plan.maps[patch.value()];
  TensorMapValues encoded;
  encoded.map = &map;
  int64_t span = elementBits(map.type) / 8;
  for (size_t i = 0; i < map.dims.size(); i++) {
    int64_t dim = 0, stride = span, extent = 0;
    DLC_RETURN_IF_FAILED(valueOf(plan, values, map.dims[i], "tensor map", dim));
    if (i > 0)
      DLC_RETURN_IF_FAILED(
          valueOf(plan, values, map.strides[i - 1], "tensor map", stride));
    if (dim < 1 || stride < 0 ||
        __builtin_mul_overflow(dim - 1, stride, &extent) ||
        __builtin_add_overflow(span, extent, &span))
      return Status(DLC_BAD_BUNDLE, say("a tensor map of ", dim,
                                        " elements with stride ", stride));
    encoded.dims[i] = uint64_t(dim);
    if (i > 0)
      encoded.strides[i - 1] = uint64_t(stride);
  }
  uint8_t *base = nullptr;
  DLC_RETURN_IF_FAILED(table.addressAt(patch.buffer(), map.offset,
                                       uint64_t(span), values, base));
  encoded.base = base;
  return device.encode(encoded, parameters + patch.byte());
}

Status PreparedLaunch::fill(Device &device, const Program &program,
                            const BufferTable &table,
                            const ExpressionValues &values,
                            const LaunchT &step) {
  const PlanT &plan = *program.plan;
  const KernelT &kernel = *plan.kernels[step.kernel];
  launch.kernel = &kernel;
  launch.function = program.functions[step.kernel];
  launch.parameters = parameters;
  DLC_RETURN_IF_FAILED(fillGrid(plan, kernel, values, step));
  if (empty)
    return Status();
  memset(parameters, 0, kernel.parameter_bytes);
  buffers.clear();
  for (const Patch &patch : step.patches) {
    if (patch.what() == PatchKind::Symbol) {
      int64_t value = 0;
      DLC_RETURN_IF_FAILED(
          valueOf(plan, values, patch.value(), "parameter", value));
      memcpy(parameters + patch.byte(), &value, sizeof value);
      continue;
    }
    // The kernel may touch all of the buffer, wherever it is pointed to.
    uint32_t buffer = patch.buffer();
    uint8_t *start = nullptr;
    DLC_RETURN_IF_FAILED(
        table.address(buffer, 0, table.bytes(buffer), values, start));
    Space space = plan.buffers[table.root(buffer)]->space;
    buffers.push_back({start, table.bytes(buffer),
                       space != Space::Input && space != Space::Weight});
    if (patch.what() == PatchKind::Map) {
      DLC_RETURN_IF_FAILED(fillMap(device, plan, table, values, patch));
      continue;
    }
    uint8_t *address = nullptr;
    DLC_RETURN_IF_FAILED(
        table.addressAt(buffer, patch.value(), 0, values, address));
    memcpy(parameters + patch.byte(), &address, sizeof address);
  }
  launch.buffers = buffers;
  return Status();
}
