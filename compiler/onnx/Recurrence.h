// SPDX-License-Identifier: Apache-2.0
// A step that is repeated along a sequence: Scan, GRU and RNN.
#pragma once

#include "compiler/onnx/NodeBuilder.h"
#include "compiler/onnx/Scope.h"

namespace dlc {

using Values = llvm::SmallVector<Value *, 4>;

/// One repetition, as the function that emits it sees it.
class Step {
public:
  Step(Scope &scope, NodeBuilder &b, Value *index,
       std::optional<int64_t> number, const Dim &length)
      : scope(scope), b(b), index(index), number(number), length(length) {}

  Scope &scope;   ///< names of the step's own graph
  NodeBuilder &b; ///< emits into it
  Values states;  ///< as the step before left them

  /// A value from outside.
  Value *outer(Value *value) { return scope.bringIn(value); }
  /// The slice of an outer value at this step along `axis`, which goes away;
  /// from the end where `backwards`.
  Value *at(Value *value, int64_t axis, bool backwards);
  /// The position in the sequence that `at` reads, i64.
  Value *position(bool backwards);

private:
  Value *index;
  std::optional<int64_t> number; ///< where it is written out step by step
  Dim length;
};

/// Emits the step `length` times in place where that is a small number, else
/// once as the body of a `loop`. `step` returns the new states and what is
/// collected, or nothing after a fault. Result: the last states, then the
/// collected values, each with a leading dimension `length`.
using StepFunction =
    llvm::function_ref<std::optional<std::pair<Values, Values>>(Step &)>;
std::optional<Values> repeat(NodeReader &n, NodeBuilder &b, const Dim &length,
                             Values states, StepFunction step);

} // namespace dlc
