// SPDX-License-Identifier: Apache-2.0
// A plan under given input shapes: the values of symbols and expressions, the
// sizes of buffers and their places in the arena.
#pragma once

#include "runtime/Status.h"
#include "runtime/plan/Expression.h"

#include <span>
#include <vector>

namespace dlc {

using Dims = std::vector<int64_t>;

/// "1x3x224x224"; "scalar" for rank 0.
std::string toText(std::span<const int64_t> dims);

/// What a size may be: "3", "1..8", "at least 2".
std::string boundsText(int64_t lower, int64_t upper);

/// Bytes of a dense tensor; nothing when a dimension is negative or the size
/// does not fit in 62 bits.
std::optional<uint64_t> denseBytes(std::span<const int64_t> dims,
                                   plan::ElementType type);

struct OutputLayout {
  Dims dims;            ///< at its bound where the device decides
  uint64_t bytes = 0;   ///< dense
  bool dynamic = false; ///< a device cell decides the true shape
};

struct Layout {
  std::vector<int64_t> symbols;
  plan::ExpressionValues values;
  std::vector<uint64_t> bytes;   ///< by buffer
  std::vector<uint32_t> roots;   ///< by buffer: the outermost one it lies in
  std::vector<uint64_t> offsets; ///< by buffer that is a root: in the arena,
                                 ///< or among the cells
  uint64_t arenaBytes = 0;
  uint64_t cellBytes = 0;
  std::vector<OutputLayout> outputs;
};

/// Checks the shapes against the plan and lays it out. Fails with
/// DLC_BAD_INPUT when the plan does not take the shapes, and with a sentence
/// that names the input, what was found and what was expected.
Status layOut(const plan::PlanT &plan, const std::vector<Dims> &inputs,
              int64_t multiprocessors, Layout &layout);

/// A dimension of an input or output as text: "3", "N", "floordiv(W,2)".
std::string dimsText(const plan::PlanT &plan, const plan::PortT &port);

/// The value of an expression, or what is wrong with it.
Status valueOf(const plan::PlanT &plan, const plan::ExpressionValues &values,
               uint32_t expression, std::string_view what, int64_t &value);

} // namespace dlc
