// SPDX-License-Identifier: Apache-2.0
// Strides, pads and dilations of convolutions and pools, read from their node.
#pragma once

#include "compiler/onnx/NodeBuilder.h"

namespace dlc {

/// One entry per spatial dimension. Pads are resolved: auto_pad and ceil_mode
/// are in them; they may depend on a symbolic size.
struct WindowGeometry {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<Dim> low, high; ///< padding at begin and end
  std::vector<Dim> ceilExtra; ///< what of `high` only ceil_mode adds

  /// Are all pads numbers?
  bool isFixed() const;
  static std::vector<int64_t> numbers(llvm::ArrayRef<Dim> dims);
};

enum class AutoPad { None, Valid, SameUpper, SameLower };
AutoPad readAutoPad(NodeReader &n);
/// An attribute with one positive number per spatial dimension, all 1 where
/// it is absent.
std::vector<int64_t> readPerDimension(NodeReader &n, llvm::StringRef name,
                                      size_t dimensions);
/// `pads`, begins before ends; zeros where absent. Not negative.
std::pair<std::vector<int64_t>, std::vector<int64_t>>
readPads(NodeReader &n, size_t dimensions);

/// Reads strides, dilations (unless `!hasDilations`), auto_pad and pads of a
/// window of `kernel` over `spatial`.
std::optional<WindowGeometry> readWindow(NodeReader &n,
                                         llvm::ArrayRef<Dim> spatial,
                                         std::vector<int64_t> kernel,
                                         bool hasDilations, bool ceilMode);

/// The convolution of two values that a node's attributes describe.
Value *convolve(NodeReader &n, NodeBuilder &b, Value *x, Value *w,
                std::optional<DataType> type);

/// y plus one value per channel, input `i` of the node; y where that is absent.
Value *addChannelBias(NodeReader &n, NodeBuilder &b, Value *y, unsigned i);

/// Where the maxima of windows over x lie, as MaxPool's second result.
Value *maxPoolIndices(NodeReader &n, NodeBuilder &b, Value *x,
                      const WindowGeometry &g, bool columnMajor);

} // namespace dlc
