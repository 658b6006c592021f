// SPDX-License-Identifier: Apache-2.0
// Creates ops at a place in a graph.
#pragma once

#include "ir/Ops.h"
#include <functional>

namespace dlc {

class Builder {
public:
  explicit Builder(Graph &graph) : graph(&graph), place(graph.end()) {}
  void setInsertionPoint(Op *before);
  void setInsertionPointAfter(Op *op);
  Location location; ///< given to every op that is created

  /// Creates `T` from its operands and attributes, infers its types and inserts
  /// it. For a user's model: errors are the user's.
  template <class T, class... Args>
  llvm::Expected<T> tryCreate(Args &&...args) {
    if (llvm::Error e =
            finish(T::make(location, std::forward<Args>(args)...), made))
      return e;
    return T(made);
  }
  /// The same where failure would be our mistake.
  template <class T, class... Args> T create(Args &&...args) {
    llvm::Error e =
        finish(T::make(location, std::forward<Args>(args)...), made);
    DLC_CHECK(!e) << llvm::toString(std::move(e));
    return T(made);
  }
  /// Infers the types of a detached op whose regions are filled, and inserts
  /// it. The way to make a fusion, an if or a loop.
  Op *insert(Op *op);
  Value *constant(Constant value);
  /// Scalar constant of `element`.
  Value *scalar(DataType element, double value);
  Graph &currentGraph() { return *graph; }

  /// Called for each op after its insertion (the rewriter's worklist).
  std::function<void(Op *)> onCreate;

private:
  llvm::Error finish(Op *op, Op *&result); // infers, inserts; frees op on error
  Graph *graph;
  Graph::OpList::iterator place;
  Op *made = nullptr;
};

} // namespace dlc
