// SPDX-License-Identifier: Apache-2.0
// Executes the steps of a plan.
#include "runtime/StepRunner.h"

#include <algorithm>
#include <cstring>

using namespace dlc;
using namespace dlc::plan;

/// Whether the host takes part in the step, so that all streams must meet.
static bool meets(const StepT &step) {
  return step.action.type == Action::HostRead ||
         step.action.type == Action::If || step.action.type == Action::Loop;
}

StepRunner::StepRunner(Device &device, const Program &program,
                       const Layout &layout, BufferTable &table,
                       StreamPool &pool, const LaunchMode &mode)
    : Owner(device), Loaded(program), Plan(*program.plan), Shape(layout),
      Table(table), Pool(pool), Mode(mode), Values(&layout.values) {
  for (const auto &step : Plan.blocks[0]->steps)
    Straight &= !meets(*step);
  for (const auto &block : Plan.blocks) {
    std::vector<bool> &awaited = Awaited.emplace_back(block->steps.size());
    for (const auto &step : block->steps)
      for (uint32_t after : step->after)
        if (block->steps[after]->stream != step->stream)
          awaited[after] = true;
  }
}

void StepRunner::reset() {
  Values = &Shape.values;
  Symbols.clear();
  IsSet.clear();
}

Status StepRunner::run(Stream main) {
  Main = main;
  return runBlock(0);
}

// ---- blocks and streams -----------------------------------------------------

Stream StepRunner::streamOf(uint32_t stream) const {
  return stream > 0 ? Pool.stream(stream - 1) : Main;
}

/// Lets the main stream wait for the side streams that are active.
Status StepRunner::join(size_t block, uint64_t &active) {
  size_t count = Plan.blocks[block]->steps.size();
  for (uint32_t s = 1; s < Plan.streams; s++) {
    if (!(active >> s & 1))
      continue;
    Event end = Pool.event(1 + count + s);
    DLC_RETURN_IF_FAILED(Owner.record(end, streamOf(s)));
    DLC_RETURN_IF_FAILED(Owner.wait(Main, end));
  }
  active = 0;
  return Status();
}

Status StepRunner::runBlock(size_t block) {
  const std::vector<std::unique_ptr<StepT>> &steps = Plan.blocks[block]->steps;
  std::vector<GraphNode> *nodes = block == 0 ? Nodes : nullptr;
  size_t count = steps.size();
  if (nodes)
    nodes->assign(count, nullptr);

  // Event 0 is the fork, then one for each step, then one for the end of each
  // side stream.
  bool forked = Plan.streams > 1 && !Owner.isHost() && !Profiler;
  if (forked) {
    DLC_RETURN_IF_FAILED(
        Pool.reserve(Plan.streams - 1, 1 + count + Plan.streams));
    DLC_RETURN_IF_FAILED(Owner.record(Pool.event(0), Main));
  }
  // By stream, of which there are at most 64: whether it was forked, and
  // whether its last step is a launch that nothing else was waited for since.
  // Only then a kernel may overlap the one in front of it.
  uint64_t active = 0, afterLaunch = 0;
  for (size_t i = 0; i < count; i++) {
    const StepT &step = *steps[i];
    bool isMeeting = meets(step);
    uint32_t stream = forked && !isMeeting ? step.stream : 0;
    uint64_t bit = uint64_t(1) << stream;
    if (isMeeting)
      DLC_RETURN_IF_FAILED(join(block, active));
    if (stream > 0 && !(active & bit)) {
      active |= bit;
      afterLaunch &= ~bit;
      DLC_RETURN_IF_FAILED(Owner.wait(streamOf(stream), Pool.event(0)));
    }
    if (forked && !isMeeting)
      for (uint32_t after : step.after)
        if (steps[after]->stream != step.stream && !meets(*steps[after])) {
          afterLaunch &= ~bit;
          DLC_RETURN_IF_FAILED(
              Owner.wait(streamOf(stream), Pool.event(1 + after)));
        }
    Status status = Profiler
                        ? runProfiled(step)
                        : runStep(step, streamOf(stream), afterLaunch & bit);
    if (!status.ok())
      return describe(std::move(status), step);
    bool isLaunch = step.action.type == Action::Launch;
    bool launched = isLaunch && !Prepared.empty;
    if (launched)
      afterLaunch |= bit;
    else if (!isLaunch)
      afterLaunch &= ~bit;
    if (nodes && launched)
      DLC_RETURN_IF_FAILED(Owner.lastNode(streamOf(stream), (*nodes)[i]));
    if (forked && isMeeting)
      DLC_RETURN_IF_FAILED(Owner.record(Pool.event(0), Main));
    else if (forked && Awaited[block][i])
      DLC_RETURN_IF_FAILED(Owner.record(Pool.event(1 + i), streamOf(stream)));
  }
  return join(block, active);
}

Status StepRunner::describe(Status status, const StepT &step) const {
  std::string place = EnumNameAction(step.action.type);
  if (const LaunchT *launch = step.action.AsLaunch())
    place = say("launch of \"", Plan.kernels[launch->kernel]->name, "\"");
  for (size_t i = 0; i < step.nodes.size(); i++)
    place += (i ? ", " : " for node ") + step.nodes[i];
  return std::move(status).in(place);
}

Status StepRunner::runStep(const StepT &step, Stream stream, bool overlaps) {
  switch (step.action.type) {
  case Action::Launch:
    return launch(*step.action.AsLaunch(), stream, overlaps);
  case Action::Copy:
    return copy(*step.action.AsCopy(), stream);
  case Action::Fill:
    return fill(*step.action.AsFill(), stream);
  case Action::HostRead:
    return hostRead(*step.action.AsHostRead(), stream);
  case Action::If:
    return branch(*step.action.AsIf());
  case Action::Loop:
    return loop(*step.action.AsLoop());
  case Action::State:
    return state(*step.action.AsState(), stream);
  case Action::NONE:
    break;
  }
  return Status(DLC_INTERNAL, "an unknown step passed the verifier");
}

Status StepRunner::runProfiled(const StepT &step) {
  // The steps inside are told of one by one.
  if (step.action.type == Action::If || step.action.type == Action::Loop)
    return runStep(step, Main, false);
  DLC_RETURN_IF_FAILED(Pool.reserve(0, 2));
  DLC_RETURN_IF_FAILED(Owner.record(Pool.event(0), Main));
  DLC_RETURN_IF_FAILED(runStep(step, Main, false));
  DLC_RETURN_IF_FAILED(Owner.record(Pool.event(1), Main));
  DLC_RETURN_IF_FAILED(Owner.synchronize(Main));
  dlc_step report = {};
  DLC_RETURN_IF_FAILED(
      Owner.elapsed(Pool.event(0), Pool.event(1), report.microseconds));
  std::string nodes;
  for (const std::string &node : step.nodes)
    nodes += (nodes.empty() ? "" : ", ") + node;
  report.name = EnumNameAction(step.action.type);
  report.nodes = nodes.c_str();
  if (const LaunchT *launch = step.action.AsLaunch()) {
    const KernelT &kernel = *Plan.kernels[launch->kernel];
    report.name = kernel.name.c_str();
    std::copy_n(Prepared.launch.grid, 3, report.grid);
    report.threads = kernel.threads;
  }
  Profiler(ProfilerUser, &report);
  return Status();
}

// ---- steps ------------------------------------------------------------------

Status StepRunner::bytesOf(uint32_t expression, std::string_view what,
                           uint64_t &bytes) {
  int64_t value = 0;
  DLC_RETURN_IF_FAILED(valueOf(Plan, *Values, expression, what, value));
  if (value < 0)
    return Status(DLC_BAD_INPUT, say(what, " of ", value, " bytes"));
  bytes = uint64_t(value);
  return Status();
}

Status StepRunner::launch(const LaunchT &step, Stream stream, bool overlaps) {
  DLC_RETURN_IF_FAILED(Prepared.fill(Owner, Loaded, Table, *Values, step));
  if (Prepared.empty)
    return Status();
  Prepared.launch.overlaps = overlaps && Prepared.launch.kernel->pdl;
  return Owner.launch(Prepared.launch, Mode, stream);
}

Status StepRunner::copy(const CopyT &step, Stream stream) {
  uint64_t bytes = 0;
  uint8_t *from = nullptr, *to = nullptr;
  DLC_RETURN_IF_FAILED(bytesOf(step.bytes, "copy", bytes));
  DLC_RETURN_IF_FAILED(
      Table.addressAt(step.from, step.from_offset, bytes, *Values, from));
  DLC_RETURN_IF_FAILED(
      Table.addressAt(step.to, step.to_offset, bytes, *Values, to));
  return Owner.copy(to, from, bytes, stream);
}

Status StepRunner::fill(const FillT &step, Stream stream) {
  uint64_t bytes = 0;
  uint8_t *to = nullptr;
  DLC_RETURN_IF_FAILED(bytesOf(step.bytes, "fill", bytes));
  DLC_RETURN_IF_FAILED(
      Table.addressAt(step.buffer, step.offset, bytes, *Values, to));
  return Owner.fill(to, step.value, step.width, bytes, stream);
}

Status StepRunner::state(const StateT &step, Stream stream) {
  uint32_t buffer = Plan.states[step.state]->buffer;
  uint64_t bytes = Table.bytes(buffer);
  uint8_t *from = nullptr, *to = nullptr;
  DLC_RETURN_IF_FAILED(Table.address(step.from, 0, bytes, *Values, from));
  DLC_RETURN_IF_FAILED(Table.address(buffer, 0, bytes, *Values, to));
  return Owner.copy(to, from, bytes, stream);
}

Status StepRunner::setSymbol(uint32_t symbol, int64_t value) {
  const SymbolT &home = *Plan.symbols[symbol];
  if (value < home.lower || value > home.upper)
    return Status(DLC_KERNEL_ERROR,
                  say("symbol ", home.name, " became ", value, ", expected ",
                      boundsText(home.lower, home.upper)));
  if (Values != &OwnValues) {
    Symbols = Shape.symbols;
    IsSet.assign(Symbols.size(), false);
    Values = &OwnValues;
  }
  IsSet[symbol] = true;
  Symbols[symbol] = value;
  OwnValues.evaluate(Plan.expressions, Symbols);
  return Status();
}

Status StepRunner::hostRead(const HostReadT &step, Stream stream) {
  uint64_t bytes = elementBits(step.type) / 8;
  uint8_t *from = nullptr;
  DLC_RETURN_IF_FAILED(
      Table.addressAt(step.buffer, step.offset, bytes, *Values, from));
  int64_t value = 0;
  int32_t value32 = 0;
  uint8_t value8 = 0;
  void *to = step.type == ElementType::I64   ? static_cast<void *>(&value)
             : step.type == ElementType::I32 ? static_cast<void *>(&value32)
                                             : &value8;
  DLC_RETURN_IF_FAILED(Owner.copyOut(to, from, bytes, stream));
  DLC_RETURN_IF_FAILED(Owner.synchronize(stream));
  if (step.type == ElementType::I32)
    value = value32;
  if (step.type == ElementType::Bool)
    value = value8 != 0;
  return setSymbol(step.symbol, value);
}

Status StepRunner::readCell(uint32_t symbol, Stream stream) {
  if (!IsSet.empty() && IsSet[symbol])
    return Status();
  const SymbolT &home = *Plan.symbols[symbol];
  if (home.cell == kNone)
    return Status(DLC_BAD_BUNDLE,
                  say("symbol ", home.name, " was not read by any step"));
  uint8_t *from = nullptr;
  DLC_RETURN_IF_FAILED(Table.address(home.cell, 0, 8, *Values, from));
  int64_t value = 0;
  DLC_RETURN_IF_FAILED(Owner.copyOut(&value, from, 8, stream));
  DLC_RETURN_IF_FAILED(Owner.synchronize(stream));
  return setSymbol(symbol, value);
}

// ---- control flow -----------------------------------------------------------

/// A symbol's present value: what steps set, else what the shapes gave.
static int64_t current(const std::vector<int64_t> &own,
                       const std::vector<int64_t> &shape, uint32_t symbol) {
  return own.empty() ? shape[symbol] : own[symbol];
}

Status StepRunner::branch(const IfT &step) {
  if (current(Symbols, Shape.symbols, step.condition) != 0)
    return runBlock(step.then_block);
  return step.else_block == kNone ? Status() : runBlock(step.else_block);
}

Status StepRunner::loop(const LoopT &step) {
  int64_t trips = INT64_MAX;
  if (step.trips != kNone)
    DLC_RETURN_IF_FAILED(
        valueOf(Plan, *Values, step.trips, "trip count", trips));
  for (const auto &carried : step.carried) {
    uint64_t bytes = 0;
    uint8_t *from = nullptr, *to = nullptr;
    DLC_RETURN_IF_FAILED(bytesOf(carried->bytes, "carried value", bytes));
    DLC_RETURN_IF_FAILED(
        Table.address(carried->initial, 0, bytes, *Values, from));
    DLC_RETURN_IF_FAILED(Table.address(carried->in, 0, bytes, *Values, to));
    DLC_RETURN_IF_FAILED(Owner.copy(to, from, bytes, Main));
  }
  int64_t done = 0;
  for (; done < trips; done++) {
    if (step.condition != kNone &&
        current(Symbols, Shape.symbols, step.condition) == 0)
      break;
    DLC_RETURN_IF_FAILED(loopOnce(step, done).in(say("iteration ", done)));
  }
  return step.count == kNone ? Status() : setSymbol(step.count, done);
}

Status StepRunner::loopOnce(const LoopT &step, int64_t iteration) {
  DLC_RETURN_IF_FAILED(setSymbol(step.iteration, iteration));
  DLC_RETURN_IF_FAILED(runBlock(step.body));
  for (const auto &scan : step.scans) {
    uint64_t bytes = 0;
    DLC_RETURN_IF_FAILED(bytesOf(scan->bytes, "scanned value", bytes));
    if (bytes == 0)
      continue;
    uint64_t limit = Table.bytes(scan->to) / bytes, at = uint64_t(iteration);
    if (at >= limit)
      return Status(DLC_BAD_BUNDLE, "the scanned values do not fit");
    uint8_t *from = nullptr, *to = nullptr;
    DLC_RETURN_IF_FAILED(Table.address(scan->from, 0, bytes, *Values, from));
    DLC_RETURN_IF_FAILED(
        Table.address(scan->to, (scan->reverse ? limit - 1 - at : at) * bytes,
                      bytes, *Values, to));
    DLC_RETURN_IF_FAILED(Owner.copy(to, from, bytes, Main));
  }
  for (const auto &carried : step.carried) {
    // Both sides must hold either value.
    if (Table.bytes(carried->in) != Table.bytes(carried->out))
      return Status(DLC_BAD_BUNDLE, "a carried value changes its size");
    Table.exchange(carried->in, carried->out);
  }
  return Status();
}
