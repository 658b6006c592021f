// SPDX-License-Identifier: Apache-2.0
// Operands of a contraction by the tensor memory accelerator: where the tiles
// of one step of k (128 bytes) lie in a tensor map, step by step. Coordinates
// advance by counters: divisions in a single thread would set the pace.
#pragma once
#include "dlc/ptx/tma.cuh"

namespace dlc::dev {
/// How the dimensions of an operand's tensor map are to be read, innermost
/// first.
enum class Source {
  Rows,    ///< k, row
  Batches, ///< k, row, batch
  Taps,    ///< channel, tap, row: weights of a convolution
  Window   ///< im2col of channel, x, y, image
};

/// What a convolution reads for its outputs; sizes along x and y. A tap is
/// (y, x) of the filter, x counting fastest.
struct Window {
  int width, height; ///< of the result
  int strideX, strideY, padX, padY, dilationX, dilationY;
  int filterX, taps, channels;
};

/// Elements of 16 bits in one step of k.
constexpr int kTmaStep = 64;

/// Steps of k: whole taps if it is (tap, channel), so that no step has two.
template <class Problem, class P> DLC_DEVICE int tma_steps(const P &p, int k) {
  if constexpr (Problem::kSourceA == Source::Window) {
    const Window w = Problem::window(p);
    return (w.channels + kTmaStep - 1) / kTmaStep * w.taps;
  } else
    return (k + kTmaStep - 1) / kTmaStep;
}

/// Tiles of map `Map` from row `row` on, from step `step` of k on.
template <class Problem, Source S, int Map> struct TileReader {
  int k, row, batch;
  template <class P>
  DLC_DEVICE TileReader(const P &, int b, int row, int step)
      : k(step * kTmaStep), row(row), batch(b) {}
  template <class P>
  DLC_DEVICE void load(const P &p, uint32_t to, uint32_t bar) {
    if constexpr (S == Source::Rows)
      tma_load2d(to, &p.map[Map], bar, k, row);
    else
      tma_load3d(to, &p.map[Map], bar, k, row, batch);
    k += kTmaStep;
  }
};

/// Blocks of channels, and within one the taps: neighbouring taps read nearly
/// the same memory.
template <class Problem, int Map>
struct TileReader<Problem, Source::Taps, Map> {
  int channel, tap, row;
  template <class P>
  DLC_DEVICE TileReader(const P &p, int, int row, int step) : row(row) {
    const int taps = Problem::window(p).taps;
    channel = step / taps * kTmaStep;
    tap = step % taps;
  }
  template <class P>
  DLC_DEVICE void load(const P &p, uint32_t to, uint32_t bar) {
    tma_load3d(to, &p.map[Map], bar, channel, tap, row);
    if (++tap == Problem::window(p).taps) {
      tap = 0;
      channel += kTmaStep;
    }
  }
};

template <class Problem, int Map>
struct TileReader<Problem, Source::Window, Map> {
  int channel, tapX, tapY, x, y, image;
  template <class P> DLC_DEVICE TileReader(const P &p, int, int row, int step) {
    const Window w = Problem::window(p);
    const int tap = step % w.taps;
    channel = step / w.taps * kTmaStep;
    tapX = tap % w.filterX;
    tapY = tap / w.filterX;
    const int line = row / w.width;
    x = row % w.width * w.strideX - w.padX;
    y = line % w.height * w.strideY - w.padY;
    image = line / w.height;
  }
  template <class P>
  DLC_DEVICE void load(const P &p, uint32_t to, uint32_t bar) {
    const Window w = Problem::window(p);
    tma_load_im2col(to, &p.map[Map], bar, channel, x, y, image,
                    uint16_t(tapX * w.dilationX), uint16_t(tapY * w.dilationY));
    if (++tapX == w.filterX) {
      tapX = 0;
      if (++tapY * w.filterX == w.taps) {
        tapY = 0;
        channel += kTmaStep;
      }
    }
  }
};
} // namespace dlc::dev
