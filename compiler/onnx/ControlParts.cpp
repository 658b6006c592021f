// SPDX-License-Identifier: Apache-2.0
// What the importers of If and Loop share.
#include "compiler/onnx/ControlParts.h"

namespace dlc {

const onnx::GraphProto *graphAttribute(NodeReader &n, llvm::StringRef name) {
  const auto *a = n.attribute(name, onnx::AttributeProto::GRAPH);
  if (!a && !n.failed())
    n.error("attribute \"" + name + "\" is missing");
  return a ? &a->g() : nullptr;
}

bool complete(llvm::ArrayRef<Value *> values) {
  return llvm::all_of(values, [](Value *v) { return v != nullptr; });
}

bool areTensors(NodeReader &n, llvm::ArrayRef<Value *> values) {
  for (Value *value : values)
    if (value && n.context.sequences.count(value)) {
      n.error("its results hold a sequence, supported are tensors where it is "
              "decided at run time");
      return false;
    }
  return true;
}

bool finishRegions(NodeReader &n, Builder &builder, Op *op,
                   llvm::ArrayRef<TensorType> types) {
  Graph &graph = builder.currentGraph();
  graph.remove(op);
  op->setResultTypes(types);
  graph.insert(graph.end(), op);
  if (llvm::Error e = verifyOp(*op)) {
    n.error(std::move(e));
    return false;
  }
  return true;
}

} // namespace dlc
