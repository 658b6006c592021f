// SPDX-License-Identifier: Apache-2.0
// In which order the nodes of an ONNX graph can be imported.
#pragma once

#include "compiler/Diagnostics.h"
#include "compiler/onnx/onnx.pb.h"

namespace dlc {

/// Where a node stands: `name (Operator)`, or the name of its first result.
Location nodeLocation(const onnx::NodeProto &node);

/// Positions of the nodes that the outputs need, each after those it reads
/// from; in file order where the file is sorted. A cycle is an error that names
/// its nodes, and so is a name that two nodes produce; then nothing comes back.
std::optional<std::vector<int>> nodeOrder(const onnx::GraphProto &graph,
                                          Diagnostics &diagnostics);

} // namespace dlc
