// SPDX-License-Identifier: Apache-2.0
// Per-channel constants and their way into the weights of contractions.
#include "passes/ChannelScale.h"
#include "passes/NarrowFloat.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>

namespace dlc {

std::optional<ChannelVector> channelVector(const Value *operand,
                                           llvm::ArrayRef<Dim> shape) {
  std::optional<Constant> constant = constantOf(operand);
  if (!constant || !isFloat(constant->type().element))
    return std::nullopt;
  if (std::optional<double> c = constant->uniformValue())
    return ChannelVector{-1, {*c}};
  llvm::ArrayRef<Dim> own = constant->type().shape;
  if (own.size() > shape.size())
    return std::nullopt;
  ChannelVector result;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].isConstant(1))
      continue;
    if (result.axis != -1)
      return std::nullopt;
    result.axis = int64_t(shape.size() - own.size() + i);
  }
  if (result.axis == -1)
    return std::nullopt;
  result.values = constant->toFloats();
  return result;
}

std::optional<int64_t> axisBefore(const Op &view, int64_t axis) {
  auto *op = const_cast<Op *>(&view);
  if (auto transpose = llvm::dyn_cast<TransposeOp>(op))
    return transpose.permutation()[size_t(axis)];
  if (op->kind() != OpKind::Reshape)
    return std::nullopt;
  llvm::ArrayRef<Dim> from = op->operand(0)->type().shape;
  llvm::ArrayRef<Dim> to = op->result()->type().shape;
  Dim outer = elementCount(to.take_front(size_t(axis)));
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] == to[size_t(axis)] &&
        elementCount(from.take_front(i)) == outer)
      return int64_t(i);
  return std::nullopt;
}

template <class Load, class Store>
static bool scaleAll(int64_t count, int64_t run, double limit, Load load,
                     Store store, llvm::function_ref<double(int64_t)> factor) {
  for (int64_t i = 0; i < count;) {
    const double by = factor(i);
    for (const int64_t end = std::min(i + run, count); i < end; ++i) {
      const double before = load(i), after = before * by;
      if (std::isfinite(before) && !(std::fabs(after) <= limit))
        return false;
      store(i, after);
    }
  }
  return true;
}

std::optional<Constant> scaled(const Constant &c, int64_t run,
                               llvm::function_ref<double(int64_t)> factor) {
  const TensorType &type = c.type();
  const DataType element = type.element;
  const double limit = largestFinite(element);
  std::vector<uint8_t> bytes = c.expandedBytes();
  uint8_t *at = bytes.data();
  bool finite;
  if (element == DataType::F32)
    finite = scaleAll(
        c.elements(), run, limit,
        [at](int64_t i) { return double(loadF32(at, size_t(i))); },
        [at](int64_t i, double v) {
          const auto rounded = float(v);
          std::memcpy(at + i * 4, &rounded, sizeof rounded);
        },
        factor);
  else
    finite = scaleAll(
        c.elements(), run, limit,
        [=](int64_t i) { return loadFloat(element, at, i); },
        [=](int64_t i, double v) { storeFloat(element, at, i, v); }, factor);
  if (!finite)
    return std::nullopt;
  return Constant::fromBytes(type, std::move(bytes));
}

namespace {
/// Where input and output channels of a contraction lie in its weights.
struct Weights {
  Constant constant;
  std::vector<int64_t> shape;
  int64_t groups = 1;
  // Dimension of each kind of channel; those of a group follow each other.
  size_t outputs, inputs;
  bool outputsGrouped = false; // the dimension counts one group's channels
  int64_t operand;
  int64_t resultAxis, inputAxis;

  int64_t stride(size_t dimension) const {
    int64_t s = 1;
    for (size_t i = dimension + 1; i < shape.size(); ++i)
      s *= shape[i];
    return s;
  }
  int64_t output(int64_t i) const {
    int64_t local = i / stride(outputs) % shape[outputs];
    if (!outputsGrouped)
      return local;
    // conv_transpose: [C, M/groups, ...]
    int64_t c = i / stride(inputs) % shape[inputs];
    return local + c / (shape[inputs] / groups) * shape[outputs];
  }
  int64_t input(int64_t i) const {
    int64_t local = i / stride(inputs) % shape[inputs];
    if (outputsGrouped || groups == 1)
      return local;
    // conv: [M, C/groups, ...]
    int64_t m = i / stride(outputs) % shape[outputs];
    return local + m / (shape[outputs] / groups) * shape[inputs];
  }
  int64_t outputCount() const {
    return outputsGrouped ? shape[outputs] * groups : shape[outputs];
  }
};
} // namespace

static std::optional<Weights> weightsOf(Op *op) {
  Weights w;
  std::optional<Constant> constant = constantOf(op->operand(1));
  if (!constant || !constant->type().layout.isRowMajor() ||
      !isFloat(constant->type().element))
    return std::nullopt;
  w.constant = *constant;
  w.shape = *constantDims(constant->type().shape);
  w.operand = 1;
  w.resultAxis = w.inputAxis = 1;
  if (auto conv = llvm::dyn_cast<ConvOp>(op)) {
    w.groups = conv.groups();
    w.outputs = 0;
    w.inputs = 1;
  } else if (auto transposed = llvm::dyn_cast<ConvTransposeOp>(op)) {
    w.groups = transposed.groups();
    w.outputs = 1;
    w.inputs = 0;
    w.outputsGrouped = true;
  } else if (auto matmul = llvm::dyn_cast<MatMulOp>(op)) {
    // Weights with a batch of their own have other channels per batch.
    if (w.shape.size() != 2)
      return std::nullopt;
    w.outputs = matmul.transposeRhs() ? 0 : 1;
    w.inputs = 1 - w.outputs;
    w.resultAxis = op->result()->type().rank() - 1;
    w.inputAxis = matmul.lhs()->type().rank() - (matmul.transposeLhs() ? 2 : 1);
  } else {
    return std::nullopt;
  }
  return w;
}

OutputChannels outputChannels(Op *contraction) {
  int64_t axis = contraction->kind() == OpKind::MatMul
                     ? contraction->result()->type().rank() - 1
                     : 1;
  const Dim &dim = contraction->result()->type().dim(axis);
  return {dim.isConstant() ? dim.constant() : -1, axis};
}

std::optional<Constant> scaledOutputs(Op *contraction, const ChannelVector &by,
                                      PassContext &context) {
  std::optional<Weights> w = weightsOf(contraction);
  if (!w) {
    context.decline(*contraction, "its weights are not constant");
    return std::nullopt;
  }
  if (by.axis != -1 && by.axis != w->resultAxis) {
    context.decline(*contraction,
                    "the constant does not run along its output channels");
    return std::nullopt;
  }
  std::optional<Constant> result =
      scaled(w->constant, w->stride(w->outputs),
             [&](int64_t i) { return by.at(w->output(i)); });
  if (!result)
    context.decline(*contraction, "a scaled weight would become infinite");
  return result;
}

std::optional<Constant> scaledInputs(Op *contraction, const ChannelVector &by,
                                     PassContext &context) {
  std::optional<Weights> w = weightsOf(contraction);
  if (!w) {
    context.decline(*contraction, "its weights are not constant");
    return std::nullopt;
  }
  if (by.axis != -1 && by.axis != w->inputAxis) {
    context.decline(*contraction,
                    "the constant does not run along its input channels");
    return std::nullopt;
  }
  std::optional<Constant> result =
      scaled(w->constant, w->stride(w->inputs),
             [&](int64_t i) { return by.at(w->input(i)); });
  if (!result)
    context.decline(*contraction, "a scaled weight would become infinite");
  return result;
}

std::optional<std::vector<double>> shiftedOutputs(Op *contraction,
                                                  const ChannelVector &shift,
                                                  PassContext &context) {
  std::optional<Weights> w = weightsOf(contraction);
  if (!w) {
    context.decline(*contraction, "its weights are not constant");
    return std::nullopt;
  }
  if (shift.axis != -1 && shift.axis != w->inputAxis) {
    context.decline(*contraction,
                    "the constant does not run along its input channels");
    return std::nullopt;
  }
  auto conv = llvm::dyn_cast<ConvOp>(contraction);
  bool isMatMul = contraction->kind() == OpKind::MatMul;
  auto isZero = [](int64_t pad) { return pad == 0; };
  if (!isMatMul && (!conv || !llvm::all_of(conv.padLow(), isZero) ||
                    !llvm::all_of(conv.padHigh(), isZero))) {
    context.decline(*contraction,
                    "its padding sees zeros where the shift would not be");
    return std::nullopt;
  }
  std::vector<double> sums(size_t(w->outputCount()), 0.0);
  for (int64_t i = 0; i < w->constant.elements(); ++i)
    sums[size_t(w->output(i))] +=
        w->constant.floatAt(i) * shift.at(w->input(i));
  double limit = largestFinite(w->constant.type().element);
  for (double sum : sums)
    if (!(std::fabs(sum) <= limit)) {
      context.decline(*contraction, "a shifted bias would become infinite");
      return std::nullopt;
    }
  return sums;
}

} // namespace dlc
