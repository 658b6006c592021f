// SPDX-License-Identifier: Apache-2.0
// A straight plan recorded as a graph and replayed.
#include "runtime/Replay.h"

using namespace dlc;
using namespace dlc::plan;

Status Replay::run(Device &device, const Program &program, const Layout &layout,
                   BufferTable &table, StreamPool &pool, Stream recorder,
                   Stream stream) {
  bool kept = Recorded != nullptr;
  if (kept && Bases != table.bases())
    if (Status status = update(device, program, layout, table, kept);
        !status.ok()) {
      // Some of its nodes have the new pointers.
      Recorded.reset();
      return status;
    }
  if (!kept)
    DLC_RETURN_IF_FAILED(
        record(device, program, layout, table, pool, recorder));
  return Recorded->launch(stream);
}

Status Replay::record(Device &device, const Program &program,
                      const Layout &layout, BufferTable &table,
                      StreamPool &pool, Stream recorder) {
  Recorded.reset();
  StepRunner runner(device, program, layout, table, pool, LaunchMode());
  runner.setNodes(&Nodes);
  DLC_RETURN_IF_FAILED(device.beginCapture(recorder));
  Status status = runner.run(recorder);
  if (!status.ok()) {
    device.abandonCapture(recorder);
    return status;
  }
  DLC_RETURN_IF_FAILED(device.endCapture(recorder, Recorded));
  Bases = table.bases();
  return Status();
}

Status Replay::update(Device &device, const Program &program,
                      const Layout &layout, BufferTable &table, bool &kept) {
  auto changed = [&](uint32_t buffer) {
    uint32_t root = table.root(buffer);
    return Bases[root] != table.base(root);
  };
  const std::vector<std::unique_ptr<StepT>> &steps =
      program.plan->blocks[0]->steps;
  kept = false;
  if (!Scratch)
    Scratch = std::make_unique<PreparedLaunch>();
  PreparedLaunch &prepared = *Scratch;
  for (size_t i = 0; i < steps.size(); i++) {
    // Copies and fills have no update of their own: record anew.
    const ActionUnion &action = steps[i]->action;
    if (const CopyT *copy = action.AsCopy())
      if (changed(copy->from) || changed(copy->to))
        return Status();
    if (const FillT *fill = action.AsFill())
      if (changed(fill->buffer))
        return Status();
    if (const StateT *state = action.AsState())
      if (changed(state->from) ||
          changed(program.plan->states[state->state]->buffer))
        return Status();
    const LaunchT *launch = action.AsLaunch();
    if (!launch)
      continue;
    bool touched = false;
    for (const Patch &patch : launch->patches)
      touched |= patch.what() != PatchKind::Symbol && changed(patch.buffer());
    if (!touched)
      continue;
    DLC_RETURN_IF_FAILED(
        prepared.fill(device, program, table, layout.values, *launch));
    if (prepared.empty)
      continue;
    if (!Nodes[i])
      return Status();
    DLC_RETURN_IF_FAILED(Recorded->update(Nodes[i], prepared.launch));
  }
  Bases = table.bases();
  kept = true;
  return Status();
}
