// SPDX-License-Identifier: Apache-2.0
// Constant weights of contractions in 16 bits.
#include "passes/RoundWeights.h"
#include "passes/NarrowFloat.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <cmath>

namespace dlc {

namespace {
/// Sums over weights: `count` of them in each of `batches`, of `depth` weights.
struct Sums {
  int64_t batches = 1, count = 1, depth = 1;
  int64_t countStride = 1, depthStride = 1;
};

/// A weight that could be rounded the other way.
struct Choice {
  float distance; ///< from its value to the other neighbour, in steps
  float step;     ///< from the one to the other
  uint16_t *bits;
  bool operator>(const Choice &other) const {
    return std::pair(distance, bits) > std::pair(other.distance, other.bits);
  }
};

/// Rounds the weights of some sums. Nothing depends on which sums are rounded
/// by the same object.
template <class Format> class Rounder {
public:
  Rounder(const Sums &sums, const uint8_t *values, uint16_t *rounded)
      : sums(sums), values(values), rounded(rounded) {}

  /// Sums `begin` to `end` of a batch.
  void round(int64_t batch, int64_t begin, int64_t end);

  /// How many sums make a piece of work that fits into a cache.
  static int64_t together(const Sums &sums) {
    constexpr int64_t kElements = 4096;
    return sums.depthStride == 1 ? std::max<int64_t>(1, kElements / sums.depth)
                                 : kAcross;
  }

private:
  void roundSome(size_t first, size_t count);
  void balance(uint16_t *bits, const float *off, double sum);

  /// Sums whose weights lie side by side are read a cache line at a time.
  static constexpr int64_t kAcross = 16;

  const Sums &sums;
  const uint8_t *values; ///< f32
  uint16_t *rounded;
  std::vector<float> errors, off; ///< of each weight: absolute, in steps
  std::vector<uint32_t> candidates;
  std::vector<Choice> choices;
};
} // namespace

static std::optional<Sums> sumsOf(const Op &op, const Constant &weights) {
  std::vector<int64_t> shape;
  for (const Dim &d : weights.type().shape)
    shape.push_back(d.constant());
  Sums s;
  if (auto matmul = llvm::dyn_cast<MatMulOp>(&op)) {
    if (shape.size() < 2)
      return std::nullopt;
    const int64_t rows = shape[shape.size() - 2], columns = shape.back();
    for (int64_t d : llvm::ArrayRef(shape).drop_back(2))
      s.batches *= d;
    const bool transposed = matmul.transposeRhs();
    s.count = transposed ? rows : columns;
    s.depth = transposed ? columns : rows;
    s.countStride = transposed ? columns : 1;
    s.depthStride = transposed ? 1 : columns;
    return s;
  }
  int64_t taps = 1;
  for (int64_t d :
       llvm::ArrayRef(shape).drop_front(std::min<size_t>(2, shape.size())))
    taps *= d;
  if (op.kind() == OpKind::Conv) {
    // Neighbours in a channel are more alike than channels are.
    s.count = taps > 1 ? shape[0] * shape[1] : shape[0];
    s.depth = taps > 1 ? taps : shape[1];
    s.countStride = s.depth;
    return s;
  }
  if (auto transposed = llvm::dyn_cast<ConvTransposeOp>(&op)) {
    s.batches = transposed.groups();
    s.depth = shape[0] / s.batches;
    s.count = s.depthStride = shape[1] * taps;
    return s;
  }
  return std::nullopt;
}

// Of 64-bit floats in eight lanes: nearly always exact, and in a fixed order.
static double sumOf(const float *errors, size_t count) {
  double lanes[8] = {};
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t lane = 0; lane < 8; ++lane)
      lanes[lane] += double(errors[i + lane]);
  for (size_t lane = 0; i + lane < count; ++lane)
    lanes[lane] += double(errors[i + lane]);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

// `count` values that lie side by side.
template <class Format>
static void roundLine(const uint8_t *__restrict values,
                      uint16_t *__restrict rounded, float *__restrict errors,
                      float *__restrict off, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float value = loadF32(values, i);
    const uint16_t bits = Format::round(value);
    const float result = Format::value(bits);
    const float error = result - value;
    rounded[i] = bits;
    errors[i] = error;
    off[i] = error * stepsPerUnit<Format>(result);
  }
}

// Rounds weights the other way until the errors of the sum cancel, those first
// that lie near the middle between their neighbours.
template <class Format>
void Rounder<Format>::balance(uint16_t *bits, const float *off, double sum) {
  if (!std::isfinite(sum) || sum == 0)
    return;
  const auto depth = size_t(sums.depth), stride = size_t(sums.depthStride);
  const float sign = sum > 0 ? 1.0F : -1.0F;
  // An error of more than 3/4 of a step would be worse than the sum's. Long
  // sums have enough weights nearer to the middle.
  const float least = depth < 256 ? 0.25F : 0.4375F;
  candidates.resize(depth);
  size_t found = 0;
  for (size_t k = 0; k < depth; ++k) { // without branches
    candidates[found] = uint32_t(k);
    found += off[k] * sign > least;
  }
  choices.clear();
  for (uint32_t k : llvm::ArrayRef(candidates).take_front(found)) {
    uint16_t *at = bits + k * stride;
    const float value = Format::value(*at);
    if (value != 0 && std::fabs(value) < Format::largest)
      choices.push_back({1 - off[k] * sign, stepAt<Format>(value), at});
  }
  double left = std::fabs(sum);
  while (left > 0) {
    // What is left only becomes less: larger steps have had their time.
    llvm::erase_if(choices,
                   [&](const Choice &c) { return double(c.step) >= 2 * left; });
    if (choices.empty())
      return;
    std::make_heap(choices.begin(), choices.end(), std::greater());
    while (left > 0 && !choices.empty() &&
           double(choices.front().step) < 2 * left) {
      const Choice choice = choices.front();
      std::pop_heap(choices.begin(), choices.end(), std::greater());
      choices.pop_back();
      // Away from zero if it has to grow in the direction of its own sign.
      const bool grows = (sum < 0) != bool(*choice.bits >> 15);
      *choice.bits = uint16_t(grows ? *choice.bits + 1 : *choice.bits - 1);
      left -= double(choice.step);
    }
  }
}

template <class Format>
void Rounder<Format>::roundSome(size_t first, size_t count) {
  const auto depth = size_t(sums.depth);
  if (sums.depthStride == 1) {
    errors.resize(count * depth);
    off.resize(count * depth);
    roundLine<Format>(values + first * 4, rounded + first, errors.data(),
                      off.data(), count * depth);
    for (size_t i = 0; i < count; ++i)
      balance(rounded + first + i * depth, off.data() + i * depth,
              sumOf(errors.data() + i * depth, depth));
    return;
  }
  // A line more, so that rows do not meet in one set of a cache.
  const size_t pitch = depth + kAcross;
  off.resize(count * pitch);
  double sum[kAcross] = {};
  float error[kAcross], steps[kAcross];
  for (size_t k = 0; k < depth; ++k) {
    const size_t at = first + k * size_t(sums.depthStride);
    roundLine<Format>(values + at * 4, rounded + at, error, steps, count);
    for (size_t i = 0; i < count; ++i) {
      sum[i] += double(error[i]);
      off[i * pitch + k] = steps[i];
    }
  }
  for (size_t i = 0; i < count; ++i)
    balance(rounded + first + i, off.data() + i * pitch, sum[i]);
}

template <class Format>
void Rounder<Format>::round(int64_t batch, int64_t begin, int64_t end) {
  const int64_t start = batch * sums.count * sums.depth;
  for (int64_t n = begin; n < end; n += together(sums))
    roundSome(size_t(start + n * sums.countStride),
              size_t(std::min(together(sums), end - n)));
}

template <class Format>
static void roundSums(const Sums &sums, const uint8_t *values,
                      uint16_t *rounded) {
  // Much longer than a thread takes to wake up.
  constexpr int64_t kElements = 1 << 18;
  const int64_t together = Rounder<Format>::together(sums);
  const int64_t each = llvm::alignTo(
      std::max<int64_t>(1, kElements / sums.depth), uint64_t(together));
  const int64_t pieces = llvm::divideCeil(sums.count, each);
  llvm::parallelFor(0, size_t(sums.batches * pieces), [&](size_t i) {
    const int64_t batch = int64_t(i) / pieces;
    const int64_t begin = int64_t(i) % pieces * each;
    Rounder<Format>(sums, values, rounded)
        .round(batch, begin, std::min(begin + each, sums.count));
  });
}

std::optional<Constant> roundedWeights(const Op &op, const Constant &weights,
                                       DataType narrow) {
  const TensorType &type = weights.type();
  if (type.element != DataType::F32 || !type.layout.isRowMajor() ||
      weights.isSplat() || weights.elements() == 0)
    return std::nullopt;
  std::optional<Sums> sums = sumsOf(op, weights);
  if (!sums || sums->depth < 2)
    return std::nullopt;
  const uint8_t *values = weights.rawBytes().data();
  std::vector<uint8_t> bytes(size_t(byteSize(narrow, weights.elements())));
  auto *rounded = reinterpret_cast<uint16_t *>(bytes.data());
  if (narrow == DataType::F16)
    roundSums<HalfFormat>(*sums, values, rounded);
  else
    roundSums<BrainFormat>(*sums, values, rounded);
  return Constant::fromBytes(type.withElement(narrow), std::move(bytes));
}

} // namespace dlc
