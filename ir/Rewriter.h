// SPDX-License-Identifier: Apache-2.0
// The only way in which a pass changes a graph.
#pragma once

#include "ir/Builder.h"
#include "llvm/ADT/DenseMap.h"

namespace dlc {

/// Receives why patterns declined, for `--explain`.
using Explain = llvm::function_ref<void(const Op &, llvm::StringRef reason)>;

class Rewriter {
public:
  explicit Rewriter(Graph &graph);
  Rewriter(const Rewriter &) = delete;
  /// Builder placed before `op`, giving new ops its location.
  Builder &at(Op *op);
  /// Replaces all results of `op` and erases it. Locations join.
  void replace(Op *op, llvm::ArrayRef<Value *> with);
  void replaceValue(Value *from, Value *to);
  void setOperand(Op *op, unsigned i, Value *value);
  void setOperands(Op *op, llvm::ArrayRef<Value *> values);
  void setAttribute(Op *op, unsigned i, Attribute a);
  void setType(Value *value, TensorType type);
  void moveBefore(Op *op, Op *place);
  void erase(Op *op);
  void setOutput(unsigned i, Value *value);
  bool changed() const { return hasChanged; }
  Graph &graph() { return *currentGraph; }

  /// Visits every op of the graph (not of regions) from the top, and again
  /// those near a change, until nothing changes. Pure ops without uses are
  /// erased on the way. `apply` returns whether it changed something; it may
  /// erase the op.
  void greedily(llvm::function_ref<bool(Op *, Rewriter &)> apply);
  /// Erases pure ops without uses.
  void eraseDeadOps();

private:
  void enqueue(Op *op);
  void enqueueUsers(Value *value);
  void enqueueProducer(Value *value);
  Op *dequeue();
  Graph *currentGraph;
  Builder builder;
  // A stack without repeats; erased ops leave a null behind.
  std::vector<Op *> worklist;
  llvm::DenseMap<Op *, size_t> worklistIndex;
  bool hasChanged = false;
};

} // namespace dlc
