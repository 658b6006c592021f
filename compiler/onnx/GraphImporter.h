// SPDX-License-Identifier: Apache-2.0
// Imports graphs and nodes, whatever they are nested in.
#pragma once

#include "compiler/onnx/Scope.h"

namespace dlc {

/// Imports the nodes of `graph` that its outputs need into `scope`, in which
/// the graph's inputs are already defined. One value per output; null where its
/// import has failed, which then has been reported.
llvm::SmallVector<Value *, 4> importGraph(const onnx::GraphProto &graph,
                                          Scope &scope);

/// Imports one node: its operator's importer, or the body of its function.
void importNode(const onnx::NodeProto &node, Scope &scope);

} // namespace dlc
