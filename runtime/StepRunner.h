// SPDX-License-Identifier: Apache-2.0
// Executes the steps of a plan.
#pragma once

#include "runtime/BufferTable.h"
#include "runtime/PreparedLaunch.h"
#include "runtime/StreamPool.h"

namespace dlc {

class StepRunner {
public:
  StepRunner(Device &device, const Program &program, const Layout &layout,
             BufferTable &table, StreamPool &pool, const LaunchMode &mode);

  /// Told of each step, which then run one by one.
  void setProfiler(dlc_profiler_callback callback, void *user) {
    Profiler = callback;
    ProfilerUser = user;
  }
  /// While a graph is recorded: collects the node of each launch of the first
  /// block, null for the other steps and for launches of nothing.
  void setNodes(std::vector<GraphNode> *nodes) { Nodes = nodes; }

  /// Whether the plan is launches, copies and fills alone, so that it can be
  /// recorded as a graph and needs no word from the host while it runs.
  bool isStraight() const { return Straight; }

  /// Forgets what the last run found out.
  void reset();
  /// Runs the program in stream order of `main`.
  Status run(Stream main);

  /// The values of expressions after the run, with the symbols that it set.
  const plan::ExpressionValues &values() const { return *Values; }
  /// Reads the true value of a symbol at home in a device cell; waits.
  /// Nothing to do where a step has read it already.
  Status readCell(uint32_t symbol, Stream stream);

private:
  Status runBlock(size_t block);
  Stream streamOf(uint32_t stream) const;
  Status join(size_t block, uint64_t &active);
  Status runStep(const plan::StepT &step, Stream stream, bool overlaps);
  Status runProfiled(const plan::StepT &step);
  Status launch(const plan::LaunchT &step, Stream stream, bool overlaps);
  Status copy(const plan::CopyT &step, Stream stream);
  Status fill(const plan::FillT &step, Stream stream);
  Status hostRead(const plan::HostReadT &step, Stream stream);
  Status branch(const plan::IfT &step);
  Status loop(const plan::LoopT &step);
  Status loopOnce(const plan::LoopT &step, int64_t iteration);
  Status state(const plan::StateT &step, Stream stream);

  Status setSymbol(uint32_t symbol, int64_t value);
  Status bytesOf(uint32_t expression, std::string_view what, uint64_t &bytes);
  Status describe(Status status, const plan::StepT &step) const;

  Device &Owner;
  const Program &Loaded;
  const plan::PlanT &Plan;
  const Layout &Shape;
  BufferTable &Table;
  StreamPool &Pool;
  LaunchMode Mode;
  dlc_profiler_callback Profiler = nullptr;
  void *ProfilerUser = nullptr;
  std::vector<GraphNode> *Nodes = nullptr;

  bool Straight = true;
  std::vector<std::vector<bool>> Awaited; ///< by block and step: another
                                          ///< stream waits for it
  Stream Main = nullptr;
  PreparedLaunch Prepared;
  // Those of the layout until a step sets a symbol.
  const plan::ExpressionValues *Values;
  std::vector<int64_t> Symbols;
  std::vector<bool> IsSet; ///< by symbol: a step gave it its value
  plan::ExpressionValues OwnValues;
};

} // namespace dlc
