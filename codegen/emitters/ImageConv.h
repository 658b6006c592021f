// SPDX-License-Identifier: Apache-2.0
// Which convolutions image_conv.cuh computes.
#pragma once

#include "codegen/tiling/ImageConvTiling.h"
#include "ir/Graph.h"

namespace dlc::codegen {

/// Would the kernel compute this convolution on `target`, wherever its operand
/// lies? One to four channels, one group, a constant filter of some size, known
/// height and width, products of 16 bits (or of f32 weights in two parts, see
/// SplitWeights.h).
bool isImageConv(const Op &op, const Target &target);

} // namespace dlc::codegen
