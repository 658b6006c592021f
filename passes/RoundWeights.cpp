// SPDX-License-Identifier: Apache-2.0
// Constant weights of contractions in 16 bits.
#include "passes/RoundWeights.h"
#include "passes/ConstantFold.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <bit>
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
  int64_t k;
};

/// Weights of one sum, side by side.
struct Row {
  std::vector<float> value;
  std::vector<uint16_t> bits; ///< of the rounded ones
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

// By hand: there may be a hundred million.
static float valueOf(uint16_t bits, DataType type) {
  if (type == DataType::BF16)
    return std::bit_cast<float>(uint32_t(bits) << 16);
  // The exponent's bias is 15 rather than 127.
  const float size =
      std::bit_cast<float>(uint32_t(bits & 0x7fff) << 13) * 0x1p112F;
  return bits >> 15 ? -size : size;
}

// From `x` to its neighbour away from zero.
static float stepAt(float x, DataType type) {
  const float power =
      std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0x7f800000U);
  return type == DataType::F16 ? std::max(power * 0x1p-10F, 0x1p-24F)
                               : power * 0x1p-7F;
}

// Rounds weights the other way until the errors of the sum cancel, those first
// that lie near the middle between their neighbours.
static void balance(Row &row, DataType narrow, std::vector<Choice> &choices) {
  const size_t depth = row.value.size();
  double sum = 0;
  for (size_t k = 0; k < depth; ++k)
    sum += double(valueOf(row.bits[k], narrow)) - row.value[k];
  if (!std::isfinite(sum) || sum == 0)
    return;
  const float sign = sum > 0 ? 1.0F : -1.0F;
  const auto largest = float(largestFinite(narrow));
  // An error of more than 3/4 of a step would be worse than the sum's. Long
  // sums have enough weights nearer to the middle.
  const float least = depth < 256 ? 0.25F : 0.4375F;
  choices.clear();
  for (size_t k = 0; k < depth; ++k) {
    const float rounded = valueOf(row.bits[k], narrow);
    const float error = (rounded - row.value[k]) * sign;
    const float step = stepAt(rounded, narrow);
    if (error > least * step && std::fabs(rounded) < largest)
      choices.push_back({1 - error / step, step, int64_t(k)});
  }
  auto later = [](const Choice &a, const Choice &b) {
    return std::pair(a.distance, a.k) > std::pair(b.distance, b.k);
  };
  std::make_heap(choices.begin(), choices.end(), later);
  double left = std::fabs(sum);
  for (auto end = choices.end(); end != choices.begin() && left > 0;) {
    std::pop_heap(choices.begin(), end--, later);
    uint16_t &bits = row.bits[size_t(end->k)];
    if (end->step >= 2 * left || (bits & 0x7fff) == 0)
      continue;
    // Away from zero if it has to grow in the direction of its own sign.
    const bool grows = (sum < 0) != bool(bits >> 15);
    bits = uint16_t(grows ? bits + 1 : bits - 1);
    left -= end->step;
  }
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
  llvm::ArrayRef<float> values(
      reinterpret_cast<const float *>(weights.rawBytes().data()),
      size_t(weights.elements()));
  std::vector<uint8_t> bytes =
      convertConstant(weights, narrow).rawBytes().vec();
  auto *rounded = reinterpret_cast<uint16_t *>(bytes.data());
  // Sums whose weights lie side by side are read together.
  constexpr int64_t kTogether = 32;
  std::vector<Row> rows(size_t(std::min(kTogether, sums->count)));
  for (Row &row : rows) {
    row.value.resize(size_t(sums->depth));
    row.bits.resize(size_t(sums->depth));
  }
  std::vector<Choice> choices;
  for (int64_t b = 0; b < sums->batches; ++b)
    for (int64_t n = 0; n < sums->count; n += kTogether) {
      const int64_t count = std::min(kTogether, sums->count - n);
      const int64_t first =
          b * sums->count * sums->depth + n * sums->countStride;
      auto each = [&](auto &&act) {
        const bool near = sums->depthStride == 1;
        const int64_t outer = near ? count : sums->depth;
        const int64_t inner = near ? sums->depth : count;
        for (int64_t i = 0; i < outer; ++i)
          for (int64_t j = 0; j < inner; ++j) {
            const int64_t row = near ? i : j, k = near ? j : i;
            act(size_t(first + row * sums->countStride + k * sums->depthStride),
                rows[size_t(row)], size_t(k));
          }
      };
      each([&](size_t at, Row &row, size_t k) {
        row.value[k] = values[at];
        row.bits[k] = rounded[at];
      });
      for (int64_t i = 0; i < count; ++i)
        balance(rows[size_t(i)], narrow, choices);
      each([&](size_t at, Row &row, size_t k) { rounded[at] = row.bits[k]; });
    }
  return Constant::fromBytes(type.withElement(narrow), std::move(bytes));
}

} // namespace dlc
