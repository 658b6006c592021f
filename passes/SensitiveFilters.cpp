// SPDX-License-Identifier: Apache-2.0
// Contractions with constant filters whose rounding to 16 bits costs accuracy
// and gains no time.
#include "passes/SensitiveFilters.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>
#include <cmath>

namespace dlc {

namespace {
/// What one element of the result costs, as far as the filter tells.
struct Product {
  int64_t channels = 0; ///< of the input
  int64_t depth = 0;    ///< products that are added up
  int64_t outputs = 0;  ///< channels of the result
};
} // namespace

static std::optional<Product> productOf(const Op &op) {
  const Value *filter = op.numOperands() > 1 ? op.operand(1) : nullptr;
  if (!filter || !isConstantValue(filter) || isConstantValue(op.operand(0)))
    return std::nullopt;
  std::optional<std::vector<int64_t>> dims = constantDims(filter->type().shape);
  if (!dims)
    return std::nullopt;
  Product p;
  if (auto matmul = llvm::dyn_cast<MatMulOp>(&op)) {
    if (dims->size() != 2 || matmul.transposeLhs() || matmul.resultType())
      return std::nullopt;
    p.depth = p.channels = (*dims)[matmul.transposeRhs() ? 1 : 0];
    p.outputs = (*dims)[matmul.transposeRhs() ? 0 : 1];
    return p;
  }
  auto conv = llvm::dyn_cast<ConvOp>(&op);
  if (!conv || conv.resultType())
    return std::nullopt;
  p.channels = (*dims)[1] * conv.groups();
  p.outputs = (*dims)[0];
  p.depth = 1;
  for (int64_t d : llvm::ArrayRef(*dims).drop_front())
    p.depth *= d;
  return p;
}

static bool isDepthwise(const Op &op, const Product &p) {
  auto conv = llvm::dyn_cast<ConvOp>(&op);
  return conv && conv.groups() > 1 && conv.groups() == p.channels;
}

// Where neighbours are alike, a filter makes sum(w) of them, and of their
// errors up to sum(|w|). How much larger is that in half of the channels?
static double cancellation(const Constant &filter) {
  if (filter.isSplat() || !filter.elements())
    return 1;
  const int64_t channels = filter.type().dim(0).constant();
  const int64_t taps = filter.elements() / channels;
  std::vector<double> ratios;
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, size = 0;
    for (int64_t i = c * taps; i < (c + 1) * taps; ++i) {
      sum += filter.floatAt(i);
      size += std::fabs(filter.floatAt(i));
    }
    if (size > 0)
      ratios.push_back(size / std::fabs(sum));
  }
  if (ratios.empty())
    return 0;
  auto middle = ratios.begin() + ptrdiff_t(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

bool magnifiesRounding(const Op &op, DataType narrow) {
  std::optional<Product> p = productOf(op);
  if (!p || !isDepthwise(op, *p) || p->depth == 1)
    return false;
  std::optional<Constant> filter = constantOf(op.operand(1));
  if (!filter || filter->type().element != DataType::F32 ||
      !filter->type().layout.isRowMajor())
    return false;
  // An error of 1/64 of what the filter finds.
  const double step = narrow == DataType::F16 ? 0x1p-11 : 0x1p-8;
  return cancellation(*filter) * step > 0x1p-6;
}

llvm::StringRef whyFilterStaysWide(const Op &op) {
  std::optional<Product> p = productOf(op);
  if (!p)
    return "";
  if (isDepthwise(op, *p))
    return "its few products often cancel, and no tensor core computes them";
  if (auto conv = llvm::dyn_cast<ConvOp>(&op); conv && conv.groups() > 1)
    return "";
  // Tensor cores do some 200 products in the time that a memory needs for two
  // bytes, so twice the products, one for each half of the filter, hide behind
  // the elements read and written where there are few for each.
  constexpr int64_t kProductsPerElement = 32, kDepth = 128;
  if (p->channels % 8 || p->depth > kDepth ||
      p->depth * p->outputs >= kProductsPerElement * (p->channels + p->outputs))
    return "";
  return "few products for each element that moves: twice as many cost nothing";
}

bool isVector(const TensorType &type) {
  return type.rank() < 3 ||
         llvm::all_of(llvm::drop_begin(type.shape, 2),
                      [](const Dim &d) { return d.isConstant(1); });
}

// Adds what computes a vector, back to where it stops being one; false if no
// contraction is among it.
static bool trace(const Value *vector, llvm::DenseSet<const Op *> &ops) {
  // 1 MB in f32: read in less time than a kernel takes to begin.
  constexpr int64_t kFilterElements = 1 << 18;
  llvm::SetVector<const Op *> pending;
  auto follow = [&](const Value *value) {
    const Op *op = value ? value->definingOp() : nullptr;
    if (op && isVector(value->type()))
      pending.insert(op);
  };
  bool found = false;
  llvm::SmallVector<const Op *, 8> chain;
  follow(vector);
  for (size_t i = 0; i < pending.size(); ++i) {
    const Op *op = pending[i];
    if (op->hasTrait(OpTrait::Pointwise) || op->hasTrait(OpTrait::View)) {
      llvm::for_each(op->operands(), follow);
    } else {
      std::optional<Product> p = productOf(*op);
      if (!p || p->depth * p->outputs > kFilterElements)
        continue;
      found = true;
      follow(op->operand(0));
    }
    chain.push_back(op);
  }
  if (found)
    ops.insert(chain.begin(), chain.end());
  return found;
}

Gates findGates(Graph &graph) {
  Gates gates;
  for (const Op &op : graph) {
    if (!op.hasTrait(OpTrait::Pointwise))
      continue;
    const TensorType &type = op.result()->type();
    for (const Value *operand : op.operands())
      if (operand && operand->type().rank() == type.rank() && !isVector(type) &&
          isVector(operand->type()) && trace(operand, gates.ops))
        gates.scaled.insert(&op);
  }
  return gates;
}

} // namespace dlc
