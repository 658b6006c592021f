// SPDX-License-Identifier: Apache-2.0
// First layers: images of three channels become images of four.
#pragma once

#include "ir/Graph.h"

namespace dlc::codegen {

/// A convolution whose input has 3, 5, 6 or 7 channels gets a kernel before it
/// that stores its input channels-last, in the type that it multiplies, with
/// zeros up to the next multiple of four, and a filter to match:
///
///   conv(x [N, 3, H, W], w [M, 3, ...])
///     =>  conv(pad(x) [N, 4, H, W, nhwc], pad(w) [M, 4, ...])
///
/// Its operands are then copied 8 or 16 bytes at a time, which pays for the
/// pass over the image several times over. Preconditions: a fusion with this
/// one hero, one group, a constant filter. Changes `graph`; returns how many.
unsigned packChannels(Graph &graph);

} // namespace dlc::codegen
