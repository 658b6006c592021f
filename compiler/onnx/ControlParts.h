// SPDX-License-Identifier: Apache-2.0
// What the importers of If and Loop share.
#pragma once

#include "compiler/onnx/GraphImporter.h"
#include "compiler/onnx/NodeBuilder.h"

namespace dlc {

/// The graph of a required attribute; null after an error.
const onnx::GraphProto *graphAttribute(NodeReader &n, llvm::StringRef name);

/// Results of a graph that could not be imported have been reported; the node
/// fails without a word of its own.
bool complete(llvm::ArrayRef<Value *> values);

/// Sequences exist at import only and cannot leave a region.
bool areTensors(NodeReader &n, llvm::ArrayRef<Value *> values);

/// Infers and inserts an op whose regions have been filled.
bool finishRegions(NodeReader &n, Builder &builder, Op *op,
                   llvm::ArrayRef<TensorType> types);

} // namespace dlc
