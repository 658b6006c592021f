// SPDX-License-Identifier: Apache-2.0
// Which tile a convolution of images gets: a pure function of problem and
// target. Describes codegen/device/image_conv.cuh; prints as its types.
#pragma once
#include "ir/Target.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dlc {

/// Sizes along a dimension, as dlc::dev::ImageAxis.
struct ImageAxis {
  int64_t in = 1, filter = 1, stride = 1, low = 0, out = 1;
  int64_t window = 1, step = 1, windowLow = 0, pooled = 1;

  /// Does the kernel pool like this? Windows meet, or share one row.
  bool isPooled() const { return window == step || window == step + 1; }
  /// Results that `n` neighbouring pooled ones take.
  int64_t reach(int64_t n) const;
  /// "ImageAxis<224, 7, 2, 3, 112, 3, 2, 1, 56>"
  std::string str() const;
};

struct ImageConvProblem {
  ImageAxis y, x;
  int64_t images = 1;
  int64_t channels = 3, outputs = 64, parts = 1;
  bool isBf16 = false;
  int inputBytes = 2; ///< of an element in memory

  int64_t paddedChannels() const;
  int64_t perChunk() const { return 8 / paddedChannels(); }
  /// Pairs of taps of a row of the filter; steps of k.
  int64_t pairs() const;
  int64_t steps() const { return parts * y.filter * pairs(); }
  /// "ImageConvGeometry<..., 3, 64, 1>"
  std::string geometry() const;
};

struct ImageConvTiling {
  int64_t bm = 64, bn = 8, rows = 1, columns = 1;
  bool wgmma = false;
  int minBlocks = 1;
  double microseconds = 0; ///< the model's estimate

  int threads() const { return int(2 * bm); }
  /// Are the weights in registers, which ImageConvSmem says?
  bool isHeld(const ImageConvProblem &p) const {
    return wgmma && p.steps() <= 16;
  }
  /// Dynamic shared memory, as ImageConvSmem.
  int64_t sharedBytes(const ImageConvProblem &p) const;
  int64_t blocksPerImage(const ImageConvProblem &p) const;
  /// "ImageConvConfig<64, 112, 4, 56, true>"
  std::string config() const;
  /// For kernel names: "64x112r4c56g" (wgmma).
  std::string name() const;
};

/// The best by the cost model; nothing where no tile fits, or without tensor
/// cores.
std::optional<ImageConvTiling>
chooseImageConvTiling(const ImageConvProblem &problem, const Target &target);

} // namespace dlc
