// SPDX-License-Identifier: Apache-2.0
// Pooling and depthwise convolution as taps: an element of the result combines
// a few elements of the input.
#pragma once

#include "codegen/BodyPrinter.h"

namespace dlc::codegen {

class WindowView {
public:
  /// \param hero a pool, or a convolution for which isDepthwise holds.
  explicit WindowView(const Op &hero);
  static bool isDepthwise(const Op &op);

  /// Where tap `t` of the result's element reads.
  struct Tap {
    llvm::SmallVector<IndexRange, 4> inside; ///< else the tap does nothing
    Coordinates input;
    std::optional<Coordinates> filter; ///< of a convolution
  };
  Tap tap(const Coordinates &at, const Dim &t) const;
  /// The number of a window's taps.
  Dim taps() const { return elementCount(box); }
  /// Cells that an average pool divides by.
  Dim averaged(const Coordinates &at) const;

  /// Is one tap's input next to another's where the results are neighbours
  /// along this dimension? Then they are read together.
  bool keepsLanes(int64_t dimension) const;

private:
  /// A dimension along which the window slides.
  struct Axis {
    size_t dimension;
    int64_t stride, low, high, dilation;
  };
  Dim start(const Coordinates &at, const Axis &axis) const {
    return at.index[axis.dimension] * axis.stride - axis.low;
  }

  const Op &hero;
  llvm::SmallVector<Axis, 4> axes;
  Shape box; ///< the window's extents along the axes
};

} // namespace dlc::codegen
