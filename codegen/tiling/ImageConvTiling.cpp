// SPDX-License-Identifier: Apache-2.0
// Tiles of image_conv.cuh by price. A block loads, then multiplies and stores;
// what others on its multiprocessor do meanwhile fills the gaps.
#include "codegen/tiling/ImageConvTiling.h"
#include "codegen/tiling/ContractionTiling.h"

#include <algorithm>
#include <cmath>

using namespace dlc;

static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t ImageAxis::reach(int64_t n) const {
  return std::min((n - 1) * step + window, out);
}

std::string ImageAxis::str() const {
  std::string text = "ImageAxis<";
  for (int64_t v : {in, filter, stride, low, out, window, step, windowLow})
    text += std::to_string(v) + ", ";
  return text + std::to_string(pooled) + ">";
}

int64_t ImageConvProblem::paddedChannels() const {
  int64_t padded = 1;
  while (padded < channels)
    padded *= 2;
  return padded;
}

int64_t ImageConvProblem::pairs() const {
  return ceilDivide(x.filter, 2 * perChunk());
}

std::string ImageConvProblem::geometry() const {
  return "ImageConvGeometry<" + y.str() + ", " + x.str() + ", " +
         std::to_string(channels) + ", " + std::to_string(outputs) + ", " +
         std::to_string(parts) + ">";
}

namespace {
/// The band in shared memory: as ImageConvSmem.
struct Band {
  int64_t phases = 0, columns, rows;
  bool tapsRise = true; ///< the two taps of each step, in memory

  Band(const ImageConvProblem &p, const ImageConvTiling &t) {
    const int64_t taps = 2 * p.pairs(), per = p.perChunk(), s = p.x.stride;
    auto remainders = [&](int64_t below) {
      int64_t n = 0;
      for (int64_t r = 0; r < below; r++) {
        bool used = false;
        for (int64_t j = 0; j < taps; j++)
          used |= per * j % s == r;
        n += used;
      }
      return n;
    };
    phases = remainders(s);
    columns = t.bn + per * (taps - 1) / s;
    rows = (p.y.reach(t.rows) - 1) * p.y.stride + p.y.filter;
    auto place = [&](int64_t j) {
      return remainders(per * j % s) * columns + per * j / s;
    };
    for (int64_t j = 0; j < taps; j += 2)
      tapsRise &= place(j + 1) > place(j);
  }
  int64_t chunks() const { return phases * columns * rows; }
};

/// Columns of the result that the widest tile needs, in groups of 8.
int64_t widest(const ImageAxis &x, int64_t columns) {
  int64_t most = 0;
  for (int64_t c = 0; c < x.pooled; c += columns) {
    const int64_t last = std::min(c + columns, x.pooled) - 1;
    const int64_t begin = std::max<int64_t>(c * x.step - x.windowLow, 0),
                  end = std::min(last * x.step - x.windowLow + x.window, x.out);
    most = std::max(most, end - begin);
  }
  return ceilDivide(most, 8) * 8;
}

/// Estimate in seconds; infinite when the tile does not fit.
double price(const ImageConvProblem &p, const Target &t, ImageConvTiling &c) {
  const Band band(p, c);
  const int64_t shared = c.sharedBytes(p);
  if (shared > t.sharedPerBlock || (c.wgmma && !band.tapsRise))
    return INFINITY;
  // Sums, maxima and, without wgmma, operands of as many columns.
  const auto registers = int64_t((c.wgmma ? 0.65 : 1.15) * double(c.bn)) + 26 +
                         (c.isHeld(p) ? 4 * p.steps() + 4 : 0);
  const int64_t fit =
      std::min<int64_t>({t.sharedPerSm / (shared + 1024), 1024 / c.threads(),
                         t.registersPerSm / (c.threads() * registers), 8});
  if (fit < 1)
    return INFINITY;
  c.minBlocks = int(std::min<int64_t>(fit, 4));

  const int lanes = t.sm == 75 || t.sm == 80 ? 64 : 128;
  const double clock = t.fp32Flops / (double(t.multiprocessors) * lanes * 2);
  // Loads of a few chunks are in flight together.
  const double load =
      1200 + std::ceil(double(band.chunks()) / (4.0 * c.threads())) * 900;
  const double row =
      double(p.steps()) *
      (c.wgmma ? std::max(c.bn / 2.0, 16 + c.bn / 4.0)
               : std::max(2.0 * 16 * double(c.bm * c.bn) /
                              (0.7 * t.fp16Flops / clock / t.multiprocessors),
                          double(c.bm) / 16 * (double(c.bn) / 16 + 1) * 4));
  const double results = double(p.y.reach(c.rows)), stores = double(c.rows);
  const double products = results * row,
               other = results * (250 + 2.5 * double(c.bn)) + stores * 500;
  const double blocks = double(p.images) * double(c.blocksPerImage(p));
  // Measured on an H200: blocks of one multiprocessor slow each other down, and
  // the last ones have it for themselves.
  auto wave = [&](double resident) {
    return (0.9 + 0.36 * resident) * (load + products + other);
  };
  const double slots = double(fit) * t.multiprocessors;
  const double full = std::floor(blocks / slots),
               last = std::ceil((blocks - full * slots) / t.multiprocessors);
  const double clocks = full * wave(double(fit)) + (last > 0 ? wave(last) : 0);
  double seconds = clocks / clock + 1.2e-6;
  const double bytes =
      double(p.images) * (double(p.y.in * p.x.in * p.channels * p.inputBytes) +
                          double(p.y.pooled * p.x.pooled * p.outputs * 2));
  const double memory = bytes / (0.85 * t.bandwidth) + 1.5e-6;
  return std::max(seconds, memory) + 0.05 * std::min(seconds, memory);
}
} // namespace

int64_t ImageConvTiling::sharedBytes(const ImageConvProblem &p) const {
  const int64_t weights = p.steps() * bm * 32, staging = bn * (bm * 2 + 16);
  return (isHeld(p) ? std::max(weights, staging) : weights + staging) +
         Band(p, *this).chunks() * 16;
}

int64_t ImageConvTiling::blocksPerImage(const ImageConvProblem &p) const {
  return ceilDivide(p.outputs, bm) * ceilDivide(p.y.pooled, rows) *
         ceilDivide(p.x.pooled, columns);
}

std::string ImageConvTiling::config() const {
  std::string text = "ImageConvConfig<";
  for (int64_t v : {bm, bn, rows, columns})
    text += std::to_string(v) + ", ";
  return text + (wgmma ? "true>" : "false>");
}

std::string ImageConvTiling::name() const {
  return std::to_string(bm) + "x" + std::to_string(bn) + "r" +
         std::to_string(rows) + "c" + std::to_string(columns) +
         (wgmma ? "g" : "");
}

std::optional<ImageConvTiling>
dlc::chooseImageConvTiling(const ImageConvProblem &p, const Target &t) {
  using Math = ContractionProblem::Math;
  if (t.isHost() || !p.y.isPooled() || !p.x.isPooled() || p.outputs % 8 ||
      p.paddedChannels() > 8 ||
      !hasTensorCores(p.isBf16 ? Math::BF16 : Math::F16, t))
    return std::nullopt;
  std::optional<ImageConvTiling> best;
  for (bool wgmma : {true, false}) {
    if (wgmma && t.arch != "sm_90a")
      continue;
    for (int64_t tiles = 1; tiles <= 64; tiles++) {
      ImageConvTiling c;
      c.wgmma = wgmma;
      c.bm = wgmma || p.outputs > 32 ? 64 : p.outputs > 16 ? 32 : 16;
      c.columns = ceilDivide(p.x.pooled, tiles);
      c.bn = widest(p.x, c.columns);
      if (c.bn > 128)
        continue;
      for (c.rows = 1; c.rows <= 16 && c.rows <= p.y.pooled; c.rows++) {
        const double seconds = price(p, t, c);
        c.microseconds = seconds * 1e6;
        if (seconds < INFINITY &&
            (!best || c.microseconds < best->microseconds))
          best = c;
      }
      if (c.bn <= 24)
        break;
    }
  }
  return best;
}
