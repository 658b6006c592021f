// SPDX-License-Identifier: Apache-2.0
// A session: where each buffer lies in a run, and what becomes of outputs.
#include "runtime/Session.h"

#include <algorithm>
#include <cstring>

using namespace dlc;
using namespace dlc::plan;

/// Whether the caller's memory can be given to kernels as it is.
static bool isUsable(const Device &device, const dlc_tensor &tensor,
                     uint32_t alignment) {
  bool isThere = device.isHost() || tensor.memory == DLC_MEMORY_DEVICE;
  return isThere && reinterpret_cast<uintptr_t>(tensor.data) % alignment == 0;
}

/// The driver gives no memory while the caller captures.
Status Session::reserve(DeviceMemory &memory, uint64_t bytes,
                        std::string_view what) {
  if (Capturing && !memory.holds(bytes))
    return Status(DLC_INVALID_ARGUMENT,
                  say("the stream is being captured: ", what,
                      " has no memory yet, run once before with everything "
                      "bound as now"));
  return memory.reserve(device(), bytes, what);
}

Status Session::setBases(Prepared &prepared) {
  const PlanT &plan = *prepared.program->plan;
  const Layout &layout = prepared.layout;
  BufferTable &table = *prepared.table;

  uint8_t *arena = CallerArena;
  if (arena && CallerArenaBytes < layout.arenaBytes)
    return Status(DLC_BAD_INPUT,
                  say("the arena has ", CallerArenaBytes,
                      " bytes, these shapes need ", layout.arenaBytes));
  if (!arena) {
    DLC_RETURN_IF_FAILED(reserve(Arena, layout.arenaBytes, "the arena"));
    arena = Arena.data();
  }
  DLC_RETURN_IF_FAILED(reserve(Cells, layout.cellBytes, "device cells"));

  table.clear();
  for (uint32_t i = 0; i < plan.buffers.size(); i++) {
    const BufferT &buffer = *plan.buffers[i];
    if (buffer.alias != kNone)
      continue;
    if (buffer.space == Space::Arena)
      table.setBase(i, arena + layout.offsets[i]);
    if (buffer.space == Space::Cell)
      table.setBase(i, Cells.data() + layout.offsets[i]);
    if (buffer.space == Space::Weight)
      table.setBase(i, prepared.program->weights[buffer.weight]);
  }
  for (size_t i = 0; i < Inputs.size(); i++)
    DLC_RETURN_IF_FAILED(setInput(prepared, i));
  DLC_RETURN_IF_FAILED(setStates(prepared));
  for (size_t i = 0; i < Outputs.size(); i++)
    DLC_RETURN_IF_FAILED(setOutput(prepared, i));
  for (uint32_t i = 0; i < plan.buffers.size(); i++)
    if (plan.buffers[i]->alias == kNone && !table.base(i) && layout.bytes[i])
      return Status(DLC_BAD_BUNDLE,
                    say(table.name(i), " belongs to no input, output or "
                                       "state"));
  return Status();
}

Status Session::fillBases(Prepared &prepared, Stream stream) {
  if (Options.mode.seed)
    DLC_RETURN_IF_FAILED(poison(prepared, stream));
  for (size_t i = 0; i < Inputs.size(); i++)
    DLC_RETURN_IF_FAILED(fillInput(prepared, i, stream));
  return fillStates(prepared, stream);
}

/// What is read before it is written shows as NaN, or as a count below zero.
Status Session::poison(Prepared &prepared, Stream stream) {
  const PlanT &plan = *prepared.program->plan;
  const Layout &layout = prepared.layout;
  uint8_t *arena = CallerArena ? CallerArena : Arena.data();
  DLC_RETURN_IF_FAILED(
      device().fill(arena, 0xff, 1, layout.arenaBytes, stream));
  DLC_RETURN_IF_FAILED(
      device().fill(Cells.data(), 0xff, 1, layout.cellBytes, stream));
  for (uint32_t i = 0; i < plan.buffers.size(); i++)
    if (plan.buffers[i]->space == Space::Output && prepared.table->base(i))
      DLC_RETURN_IF_FAILED(device().fill(prepared.table->base(i), 0xff, 1,
                                         layout.bytes[i], stream));
  return Status();
}

Status Session::setInput(Prepared &prepared, size_t index) {
  uint32_t buffer = prepared.program->plan->inputs[index]->buffer;
  const dlc_tensor &tensor = *Inputs[index].tensor;
  uint32_t alignment = prepared.program->plan->buffers[buffer]->alignment;
  if (isUsable(device(), tensor, alignment)) {
    prepared.table->setBase(buffer, tensor.data);
    return Status();
  }
  DeviceMemory &staging = Inputs[index].staging;
  if (!staging.holds(tensor.bytes))
    DLC_RETURN_IF_FAILED(reserve(
        staging, tensor.bytes, say("input \"", InputPorts[index].name, "\"")));
  prepared.table->setBase(buffer, staging.data());
  return Status();
}

Status Session::fillInput(Prepared &prepared, size_t index, Stream stream) {
  uint32_t buffer = prepared.program->plan->inputs[index]->buffer;
  const dlc_tensor &tensor = *Inputs[index].tensor;
  if (isUsable(device(), tensor,
               prepared.program->plan->buffers[buffer]->alignment))
    return Status();
  uint8_t *staging = Inputs[index].staging.data();
  return tensor.memory == DLC_MEMORY_DEVICE
             ? device().copy(staging, tensor.data, tensor.bytes, stream)
             : device().copyIn(staging, tensor.data, tensor.bytes, stream);
}

Status Session::setStates(Prepared &prepared) {
  for (const auto &variable : prepared.program->plan->states) {
    uint64_t bytes = prepared.layout.bytes[variable->buffer];
    StateMemory &state = States[variable->name];
    if (!state.memory.data() || state.memory.bytes() != bytes) {
      state.memory.reset();
      DLC_RETURN_IF_FAILED(
          reserve(state.memory, bytes, say("state \"", variable->name, "\"")));
      state.isInitialised = false;
    }
    prepared.table->setBase(variable->buffer, state.memory.data());
  }
  return Status();
}

Status Session::fillStates(Prepared &prepared, Stream stream) {
  const PlanT &plan = *prepared.program->plan;
  for (const auto &variable : plan.states) {
    uint64_t bytes = prepared.layout.bytes[variable->buffer];
    StateMemory &state = States[variable->name];
    if (state.isInitialised)
      continue;
    if (variable->initial == kNone) {
      DLC_RETURN_IF_FAILED(
          device().fill(state.memory.data(), 0, 1, bytes, stream));
    } else {
      if (plan.weights[variable->initial]->bytes < bytes)
        return Status(DLC_BAD_BUNDLE, say("the initial value of state \"",
                                          variable->name, "\" is too small"));
      DLC_RETURN_IF_FAILED(device().copy(
          state.memory.data(), prepared.program->weights[variable->initial],
          bytes, stream));
    }
    state.isInitialised = true;
  }
  return Status();
}

// ---- outputs ----------------------------------------------------------------

static Status tooSmall(const std::string &name, uint64_t got,
                       const dlc_tensor &expected) {
  return Status(DLC_BAD_INPUT, say(name, ": got memory of ", got,
                                   " bytes, expected ", expected.bytes, " for ",
                                   toText({expected.dims, expected.rank})));
}

/// Asks the caller for an output's memory.
static Status allocateOutput(dlc_allocate_callback callback, void *user,
                             size_t index, const std::string &name,
                             dlc_tensor &tensor) {
  tensor.data = callback(user, index, &tensor);
  if (tensor.data || tensor.bytes == 0)
    return Status();
  return Status(
      DLC_OUT_OF_MEMORY,
      say(name, ": the allocator gave no memory for ", tensor.bytes, " bytes"));
}

Status Session::setOutput(Prepared &prepared, size_t index) {
  const PlanT &plan = *prepared.program->plan;
  const OutputLayout &shape = prepared.layout.outputs[index];
  BufferTable &table = *prepared.table;
  uint32_t buffer = plan.outputs[index]->buffer;
  Output &output = Outputs[index];

  dlc_tensor &result = output.result;
  result = {};
  result.type = OutputPorts[index].type;
  result.memory = device().isHost() ? DLC_MEMORY_HOST : DLC_MEMORY_DEVICE;
  result.rank = uint32_t(shape.dims.size());
  std::copy(shape.dims.begin(), shape.dims.end(), result.dims);
  result.bytes = shape.bytes;

  if (output.bound && !shape.dynamic && output.bound->bytes < shape.bytes)
    return tooSmall(outputName(index), output.bound->bytes, result);
  // Kernels write to it directly unless it is a piece of something else, or
  // another output owns it already.
  const BufferT &self = *plan.buffers[buffer];
  bool isOwn =
      self.space == Space::Output && self.alias == kNone && !table.base(buffer);
  uint64_t bytes = prepared.layout.bytes[buffer];
  if (isOwn && !output.bound && Allocate && !shape.dynamic) {
    DLC_RETURN_IF_FAILED(allocateOutput(Allocate, AllocateUser, index,
                                        outputName(index), result));
    if (shape.bytes >= bytes &&
        reinterpret_cast<uintptr_t>(result.data) % self.alignment == 0) {
      table.setBase(buffer, result.data);
      return Status();
    }
  }
  if (isOwn && output.bound && output.bound->bytes >= bytes &&
      isUsable(device(), *output.bound, self.alignment)) {
    table.setBase(buffer, output.bound->data);
    return Status();
  }
  if (!isOwn && (output.bound || Allocate))
    return Status();
  if (!output.own.holds(bytes))
    DLC_RETURN_IF_FAILED(reserve(output.own, bytes, outputName(index)));
  if (isOwn)
    table.setBase(buffer, output.own.data());
  return Status();
}

Status Session::trueShape(Prepared &prepared, size_t index, Stream stream,
                          Dims &dims) {
  const PlanT &plan = *prepared.program->plan;
  const PortT &port = *plan.outputs[index];
  StepRunner &runner = *prepared.runner;
  for (uint32_t dim : port.dims) {
    std::vector<bool> used =
        symbolsOf(plan.expressions, dim, plan.symbols.size());
    for (uint32_t i = 0; i < used.size(); i++)
      if (used[i] && plan.symbols[i]->home == Home::DeviceCell)
        DLC_RETURN_IF_FAILED(runner.readCell(i, stream));
  }
  for (uint32_t dim : port.dims)
    DLC_RETURN_IF_FAILED(
        valueOf(plan, runner.values(), dim, port.name, dims.emplace_back()));
  return Status();
}

Status Session::finishOutput(Prepared &prepared, size_t index, Stream stream) {
  const OutputLayout &shape = prepared.layout.outputs[index];
  const PortT &port = *prepared.program->plan->outputs[index];
  Output &output = Outputs[index];
  dlc_tensor &result = output.result;
  if (shape.dynamic) {
    Dims dims;
    DLC_RETURN_IF_FAILED(trueShape(prepared, index, stream, dims));
    std::optional<uint64_t> bytes = denseBytes(dims, port.type);
    if (!bytes || *bytes > shape.bytes)
      return Status(DLC_KERNEL_ERROR,
                    say(outputName(index), " became ", toText(dims),
                        ", at most ", toText(shape.dims), " was expected"));
    std::copy(dims.begin(), dims.end(), result.dims);
    result.bytes = *bytes;
  }
  uint8_t *computed = nullptr;
  DLC_RETURN_IF_FAILED(prepared.table->address(
      port.buffer, 0, result.bytes, prepared.runner->values(), computed));
  output.isValid = true;

  bool toHost = device().isHost();
  if (output.bound) {
    if (output.bound->bytes < result.bytes)
      return tooSmall(outputName(index), output.bound->bytes, result);
    result.data = output.bound->data;
    result.memory = output.bound->memory;
    toHost = result.memory == DLC_MEMORY_HOST;
  } else if (Allocate && !result.data) {
    DLC_RETURN_IF_FAILED(allocateOutput(Allocate, AllocateUser, index,
                                        outputName(index), result));
  } else if (!result.data) {
    result.data = output.own.data();
  }
  if (result.data == computed || result.bytes == 0)
    return Status();
  return toHost ? device().copyOut(result.data, computed, result.bytes, stream)
                : device().copy(result.data, computed, result.bytes, stream);
}
