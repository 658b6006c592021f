// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions: products of f64, or of integers that wrap,
// summed in a fixed order and rounded once.
#include "ir/reference/Gemm.h"
#include "ir/reference/Walk.h"

namespace dlc::reference {

/// Packs element (r, p) of a matrix that lies at offset + r * rowStride +
/// p * depthStride of `x`.
template <class A>
static auto packStrided(const Tensor &x, int64_t offset, int64_t rowStride,
                        int64_t depthStride) {
  return [=, &x](int64_t first, int64_t width, int64_t p0, int64_t depth,
                 int64_t stride, A *to) {
    dispatch(x.element(), [&](auto tag) {
      auto *from =
          x.as<decltype(tag)>() + offset + first * rowStride + p0 * depthStride;
      for (int64_t r = 0; r < width; r++)
        for (int64_t p = 0; p < depth; p++)
          to[p * stride + r] = A(from[r * rowStride + p * depthStride]);
    });
  };
}

/// Rounds sums to the result's type; integers wrap.
template <class A>
static void storeSums(const A *sums, int64_t count, Tensor &result,
                      int64_t offset) {
  dispatch(result.element(), [&](auto tag) {
    using T = decltype(tag);
    T *to = result.as<T>() + offset;
    for (int64_t i = 0; i < count; i++)
      to[i] = T(sums[i]);
  });
}

/// Calls fn with the type that products of the inputs are summed in.
template <class Fn> static void withAccumulator(const Tensor &x, Fn &&fn) {
  if (isFloat(x.element()))
    fn(double());
  else
    fn(uint64_t());
}

//===--- matmul -----------------------------------------------------------===//
Expected<Tensors> evaluateMatMul(const Context &c) {
  auto op = llvm::cast<MatMulOp>(&c.op);
  const Tensor &x = c.input(0), &y = c.input(1);
  llvm::ArrayRef<int64_t> xs = x.shape(), ys = y.shape();
  int64_t m = xs[xs.size() - 2], k = xs.back();
  int64_t depth = ys[ys.size() - 2], n = ys.back();
  if (op.transposeLhs())
    std::swap(m, k);
  if (op.transposeRhs())
    std::swap(depth, n);
  if (k != depth)
    return c.error("cannot multiply " + shapeText(xs) + " by " + shapeText(ys) +
                   ": " + llvm::Twine(k) + " columns, " + llvm::Twine(depth) +
                   " rows");
  xs = xs.drop_back(2);
  ys = ys.drop_back(2);
  Expected<Index> batch = broadcastShapes(c, xs, ys);
  if (!batch)
    return batch.takeError();
  Index shape = *batch;
  shape.push_back(m);
  shape.push_back(n);
  Tensor result(c.working(), shape);

  // With one right-hand side, all rows of all batches are one matrix.
  if (product(ys) == 1 && !op.transposeLhs()) {
    m *= product(*batch);
    *batch = xs = ys = {};
  }
  auto strides = [&](llvm::ArrayRef<int64_t> own, int64_t elements) {
    Index result(batch->size(), 0), dense = rowMajorStrides(own);
    for (size_t d = 0; d < own.size(); d++)
      if (own[d] != 1)
        result[d + batch->size() - own.size()] = dense[d] * elements;
    return result;
  };
  Index xStrides = strides(xs, m * k), yStrides = strides(ys, k * n);
  withAccumulator(x, [&](auto tag) {
    using A = decltype(tag);
    std::vector<A> sums(m * n);
    forEachIndex(*batch, [&](const Index &index, int64_t i) {
      int64_t xAt = 0, yAt = 0;
      for (size_t d = 0; d < index.size(); d++) {
        xAt += index[d] * xStrides[d];
        yAt += index[d] * yStrides[d];
      }
      gemm<A>(m, n, k,
              packStrided<A>(x, xAt, op.transposeLhs() ? 1 : k,
                             op.transposeLhs() ? m : 1),
              packStrided<A>(y, yAt, op.transposeRhs() ? k : 1,
                             op.transposeRhs() ? 1 : n),
              sums.data());
      storeSums(sums.data(), m * n, result, i * m * n);
    });
  });
  return Tensors{result};
}

//===--- conv, conv_transpose ---------------------------------------------===//
namespace {

/// Which input element a filter tap meets at an output element. A convolution
/// reads at o * stride - pad + tap * dilation; a transposed one at
/// (o + pad - tap * dilation) / stride, where that divides.
struct Geometry {
  bool transposed;
  Index in, out, kernel; // spatial sizes
  Index strides, pads, dilations;
  Index taps;  // [tap][dimension]: tap * dilation
  Index bases; // [output element][dimension]

  int64_t rank() const { return int64_t(in.size()); }
  int64_t numTaps() const { return product(kernel); }
  int64_t numOutputs() const { return product(out); }

  void prepare() {
    forEachIndex(kernel, [&](const Index &index, int64_t) {
      for (int64_t d = 0; d < rank(); d++)
        taps.push_back(index[d] * dilations[d]);
    });
    forEachIndex(out, [&](const Index &index, int64_t) {
      for (int64_t d = 0; d < rank(); d++)
        bases.push_back(transposed ? index[d] + pads[d]
                                   : index[d] * strides[d] - pads[d]);
    });
  }
  /// Offset in one channel of the input; kNoElement in the padding.
  int64_t offset(int64_t output, int64_t tap) const {
    const int64_t *base = &bases[output * rank()], *t = &taps[tap * rank()];
    int64_t at = 0;
    for (int64_t d = 0; d < rank(); d++) {
      int64_t i = base[d] + t[d];
      if (transposed) {
        i = base[d] - t[d];
        if (i % strides[d] != 0)
          return kNoElement;
        i /= strides[d];
      }
      if (i < 0 || i >= in[d])
        return kNoElement;
      at = at * in[d] + i;
    }
    return at;
  }
};

/// Packs column r (an output element) of the matrix of windows: row p is
/// channel p / taps at tap p % taps.
template <class A>
auto packWindows(const Tensor &x, int64_t offset, const Geometry &g) {
  return [=, &x, &g](int64_t first, int64_t width, int64_t p0, int64_t depth,
                     int64_t stride, A *to) {
    int64_t taps = g.numTaps(), pixels = product(g.in);
    dispatch(x.element(), [&](auto tag) {
      auto *from = x.as<decltype(tag)>() + offset;
      for (int64_t r = 0; r < width; r++)
        for (int64_t p = 0; p < depth; p++) {
          int64_t at = g.offset(first + r, (p0 + p) % taps);
          to[p * stride + r] =
              at == kNoElement ? A(0) : A(from[(p0 + p) / taps * pixels + at]);
        }
    });
  };
}

/// Packs row r (an output channel) of a transposed filter [C, M/groups, taps].
template <class A>
auto packTransposedFilter(const Tensor &w, int64_t offset, int64_t channels,
                          int64_t taps) {
  return [=, &w](int64_t first, int64_t width, int64_t p0, int64_t depth,
                 int64_t stride, A *to) {
    dispatch(w.element(), [&](auto tag) {
      auto *from = w.as<decltype(tag)>() + offset;
      for (int64_t r = 0; r < width; r++)
        for (int64_t p = 0; p < depth; p++) {
          int64_t c = (p0 + p) / taps, t = (p0 + p) % taps;
          to[p * stride + r] = A(from[(c * channels + first + r) * taps + t]);
        }
    });
  };
}

/// Channels of one group of input, and of output.
struct Channels {
  int64_t in, out;
};

Tensor convolve(const Context &c, Geometry &g, int64_t groups, Channels size) {
  const Tensor &x = c.input(0), &w = c.input(1);
  g.prepare();
  int64_t images = x.shape()[0], k = size.in * g.numTaps();
  int64_t n = g.numOutputs(), pixels = product(g.in);
  Index shape = {images, groups * size.out};
  llvm::append_range(shape, g.out);
  Tensor result(c.working(), shape);
  withAccumulator(x, [&](auto tag) {
    using A = decltype(tag);
    std::vector<A> sums(size.out * n);
    for (int64_t image = 0; image < images; image++)
      for (int64_t group = 0; group < groups; group++) {
        int64_t at = image * groups + group;
        auto right = packWindows<A>(x, at * size.in * pixels, g);
        if (g.transposed)
          gemm<A>(size.out, n, k,
                  packTransposedFilter<A>(w, group * k * size.out, size.out,
                                          g.numTaps()),
                  right, sums.data());
        else
          gemm<A>(size.out, n, k, packStrided<A>(w, group * size.out * k, k, 1),
                  right, sums.data());
        storeSums(sums.data(), size.out * n, result, at * size.out * n);
      }
  });
  return result;
}

Index spatial(const Tensor &t) {
  return Index(t.shape().begin() + 2, t.shape().end());
}

} // namespace

Expected<Tensors> evaluateConv(const Context &c) {
  auto op = llvm::cast<ConvOp>(&c.op);
  const Tensor &x = c.input(0), &w = c.input(1);
  Channels size{w.shape()[1], w.shape()[0] / op.groups()};
  if (size.in * op.groups() != x.shape()[1])
    return c.error("input " + shapeText(x.shape()) + " has not the channels " +
                   "of filter " + shapeText(w.shape()) + " in " +
                   llvm::Twine(op.groups()) + " groups");
  Geometry g{false,       spatial(x),     {}, spatial(w), op.strides(),
             op.padLow(), op.dilations(), {}, {}};
  for (int64_t d = 0; d < g.rank(); d++) {
    int64_t room = g.in[d] + op.padLow()[d] + op.padHigh()[d] -
                   (g.kernel[d] - 1) * g.dilations[d] - 1;
    g.out.push_back(room < 0 ? 0 : room / g.strides[d] + 1);
  }
  return Tensors{convolve(c, g, op.groups(), size)};
}

Expected<Tensors> evaluateConvTranspose(const Context &c) {
  auto op = llvm::cast<ConvTransposeOp>(&c.op);
  const Tensor &x = c.input(0), &w = c.input(1);
  Channels size{w.shape()[0] / op.groups(), w.shape()[1]};
  if (w.shape()[0] != x.shape()[1])
    return c.error("input " + shapeText(x.shape()) + " has not the channels " +
                   "of filter " + shapeText(w.shape()));
  Geometry g{true,        spatial(x),     {}, spatial(w), op.strides(),
             op.padLow(), op.dilations(), {}, {}};
  for (int64_t d = 0; d < g.rank(); d++)
    g.out.push_back(std::max<int64_t>(
        0, (g.in[d] - 1) * g.strides[d] + (g.kernel[d] - 1) * g.dilations[d] +
               1 + op.outputPadding()[d] - op.padLow()[d] - op.padHigh()[d]));
  return Tensors{convolve(c, g, op.groups(), size)};
}

} // namespace dlc::reference
