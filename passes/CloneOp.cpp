// SPDX-License-Identifier: Apache-2.0
// Copies of ops with other operands.
#include "passes/CloneOp.h"

namespace dlc {

Op *cloneOp(const Op &op, ValueMap &map) {
  Op *copy = op.clone([&](Value *value) {
    auto it = map.find(value);
    return it == map.end() ? value : it->second;
  });
  for (unsigned i = 0; i < op.numResults(); ++i) {
    copy->result(i)->name = op.result(i)->name;
    map[op.result(i)] = copy->result(i);
  }
  return copy;
}

llvm::SmallVector<Value *, 2>
inlineGraph(const Graph &body, llvm::ArrayRef<Value *> inputs, Op *place) {
  ValueMap map;
  for (unsigned i = 0; i < body.numInputs(); ++i)
    map[body.input(i)] = inputs[i];
  for (const Op &op : body.ops())
    place->parent()->insert(place->getIterator(), cloneOp(op, map));
  llvm::SmallVector<Value *, 2> results;
  for (Value *output : body.outputs())
    results.push_back(map.lookup(output));
  return results;
}

} // namespace dlc
