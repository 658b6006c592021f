// SPDX-License-Identifier: Apache-2.0
// A straight plan recorded as a graph and replayed; where pointers changed,
// only the nodes that use them are updated.
#pragma once

#include "runtime/StepRunner.h"

namespace dlc {

class Replay {
public:
  /// Records on `recorder`, a stream of the session's own, if need be; then
  /// replays on `stream`.
  Status run(Device &device, const Program &program, const Layout &layout,
             BufferTable &table, StreamPool &pool, Stream recorder,
             Stream stream);

private:
  Status record(Device &device, const Program &program, const Layout &layout,
                BufferTable &table, StreamPool &pool, Stream recorder);
  /// Says through `recorded` whether the graph could be kept.
  Status update(Device &device, const Program &program, const Layout &layout,
                BufferTable &table, bool &kept);

  std::unique_ptr<Graph> Recorded;
  std::vector<GraphNode> Nodes; ///< by step of the first block
  std::vector<uint8_t *> Bases; ///< by buffer, as recorded
  std::unique_ptr<PreparedLaunch> Scratch;
};

} // namespace dlc
