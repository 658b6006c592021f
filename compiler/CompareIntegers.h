// SPDX-License-Identifier: Apache-2.0
// Compares integers with the reference: equal, or a choice as good.
#pragma once

#include "ir/Graph.h"
#include "ir/reference/Evaluator.h"

namespace dlc {

/// Integers and bools are equal or not, whatever the precision. Indices that
/// choose between values (ArgMax, ArgMin, TopK) may differ where the values
/// chosen are within the bound of each other: |s - s'| <= 8 t (|s| + rms(s))
/// (docs/ir.md, "Comparison").
struct IntegerComparison {
  bool same = false;
  int64_t total = 0;
  int64_t differ = 0; ///< elements that are not equal
  int64_t first = -1; ///< of these, one that counts as different, else any
  int64_t found = 0, expected = 0; ///< there
  bool chosen = false;             ///< by values, and these were compared
  std::string str() const;
};

/// What an output's indices choose from: null if they are no choice.
struct Choice {
  Value *scores = nullptr;
  int64_t axis = 0;
};
/// Follows casts between integers up to an arg_reduce or topk.
Choice choiceOf(const Value *output);

/// `scores`: of the reference, null if the integers are no choice.
IntegerComparison compareIntegers(const reference::Tensor &out,
                                  const reference::Tensor &ref,
                                  const reference::Tensor *scores, int64_t axis,
                                  double tolerance);

} // namespace dlc
