// SPDX-License-Identifier: Apache-2.0
// Per-channel constants and their way into the weights of contractions.
#pragma once

#include "passes/Pass.h"

namespace dlc {

/// A constant that varies along one dimension only.
struct ChannelVector {
  int64_t axis = -1;          ///< of the value it applies to; -1: one value
  std::vector<double> values; ///< one per channel, or the one value
  double at(int64_t channel) const {
    return values.size() == 1 ? values[0] : values[size_t(channel)];
  }
};

/// `operand` as it is broadcast to a value of `shape`; nothing if it varies
/// along more than one dimension or is no constant.
std::optional<ChannelVector> channelVector(const Value *operand,
                                           llvm::ArrayRef<Dim> shape);

/// The axis of `view`'s input that becomes `axis` of its result unchanged;
/// nothing if there is none. Transpose and reshape.
std::optional<int64_t> axisBefore(const Op &view, int64_t axis);

/// Elements of `c` times what `factor` gives for the linear index, the same for
/// each `run` elements that follow each other; nothing if a finite element
/// would become infinite.
std::optional<Constant> scaled(const Constant &c, int64_t run,
                               llvm::function_ref<double(int64_t)> factor);

/// The weights of a contraction with each output channel multiplied; nothing
/// if `by` does not run along its output channels, or if a weight would
/// become infinite. Says why.
std::optional<Constant> scaledOutputs(Op *contraction, const ChannelVector &by,
                                      PassContext &context);
/// The same for input channels.
std::optional<Constant> scaledInputs(Op *contraction, const ChannelVector &by,
                                     PassContext &context);
/// What adding `shift` to the input adds to each output channel; nothing if
/// padding interferes.
std::optional<std::vector<double>> shiftedOutputs(Op *contraction,
                                                  const ChannelVector &shift,
                                                  PassContext &context);

/// Number of output channels and their axis in the result, for conv,
/// conv_transpose and matmul.
struct OutputChannels {
  int64_t count, axis;
};
OutputChannels outputChannels(Op *contraction);

} // namespace dlc
