// SPDX-License-Identifier: Apache-2.0
// Batch normalisation into weights, in the form that it has after folding:
//   conv(x, W) * s          =>  conv(x, W * s)
//   (conv(x, W) + b) * s    =>  conv(x, W * s) + b * s
//   (conv(x, W) + a) + b    =>  conv(x, W) + (a + b)
//   conv(x * s, W)          =>  conv(x, W * s)
//   conv(x + t, W)          =>  conv(x, W) + sum(W * t)     without padding
// s, b, t constant, one value per channel; also for conv_transpose and matmul,
// and through transposes, reshapes and pads with zeros in between.
#include "passes/ChannelScale.h"
#include "passes/CloneOp.h"
#include "passes/ConstantFold.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

static void setWeights(Op *contraction, Constant weights, Rewriter &rewriter) {
  Value *value = rewriter.at(contraction).constant(std::move(weights));
  rewriter.setOperand(contraction, 1, value);
}

static auto contraction() {
  return match::anyOf(match::op<ConvOp>(), match::op<ConvTransposeOp>(),
                      match::op<MatMulOp>());
}

static bool keepsShape(Value *value) {
  return sameShape(value->definingOp()->operand(0), value);
}

// x * c or x + c, by a constant that does not make it larger
template <class T> static auto byConstant(Value *&x, Value *&c) {
  return match::where(match::op<T>(match::value(x), match::constant(c)),
                      keepsShape,
                      "the scale or shift before it makes the value larger");
}

// What changes no number, or adds zeros that stay zeros, off the channel axis.
static auto viewOf(Value *&x, int64_t axis) {
  auto isOffAxis = [axis](Value *value) {
    PadOp pad(value->definingOp());
    return pad.mode() == PadMode::Constant &&
           (!pad.value() || uniformOf(pad.value()) == 0.0) &&
           (axis == -1 || (pad.low()[size_t(axis)].isConstant(0) &&
                           pad.high()[size_t(axis)].isConstant(0)));
  };
  return match::anyOf(match::op<TransposeOp>(match::value(x)),
                      match::op<ReshapeOp>(match::value(x)),
                      match::where(match::op<PadOp>(match::value(x)), isOffAxis,
                                   "the pad before it does not add zeros "
                                   "beside the channels"));
}

// f(conv(x, W)) * s => f(conv(x, W * s)) where f is made of views and of adds
// of constants, which are scaled too.
static bool scaleUp(Op *op, Rewriter &rewriter, PassContext &context) {
  std::optional<ChannelVector> scale =
      channelVector(op->operand(1), op->result()->type().shape);
  if (!scale || !sameShape(op->operand(0), op->result()))
    return false;
  if (op->kind() == OpKind::Div)
    for (double &value : scale->values)
      value = 1 / value;

  struct ScaledAdd {
    Op *op;
    Constant constant;
  };
  llvm::SmallVector<ScaledAdd, 2> adds;
  Value *value = op->operand(0);
  Op *user = op;
  for (;;) {
    Value *before = nullptr, *by = nullptr;
    const bool view = match::match(value, viewOf(before, scale->axis));
    const bool add = match::match(value, byConstant<AddOp>(before, by));
    match::Why why = context.why();
    if (!view && !add &&
        !match::match(value,
                      match::anyOf(contraction(), viewOf(before, scale->axis),
                                   byConstant<AddOp>(before, by)),
                      &why)) {
      // One number is a factor like any other, one per channel a normalization.
      if (scale->axis != -1 && value->definingOp())
        context.decline(*op, why);
      return false;
    }
    Op *producer = value->definingOp();
    if (!usedOnlyBy(value, user)) {
      if (isContraction(*producer))
        context.decline(*op, "the contraction before it has other uses");
      return false;
    }
    if (isContraction(*producer)) {
      std::optional<Constant> weights =
          scaledOutputs(producer, *scale, context);
      if (!weights)
        return false;
      for (ScaledAdd &scaledAdd : adds)
        rewriter.setOperand(
            scaledAdd.op, 1,
            rewriter.at(scaledAdd.op).constant(scaledAdd.constant));
      setWeights(producer, *weights, rewriter);
      rewriter.replace(op, op->operand(0));
      return true;
    }
    if (add) {
      std::optional<ChannelVector> shift =
          channelVector(by, producer->result()->type().shape);
      if (!shift || (shift->axis != scale->axis && shift->axis != -1 &&
                     scale->axis != -1)) {
        context.decline(*op, "the addition before it varies along another "
                             "dimension");
        return false;
      }
      // One value becomes one per channel.
      Constant constant = *constantOf(by);
      if (shift->axis == -1 && scale->axis != -1) {
        Shape shape(producer->result()->type().shape.size(), Dim(1));
        shape[size_t(scale->axis)] = int64_t(scale->values.size());
        constant = Constant::splat(TensorType(constant.type().element, shape),
                                   shift->values[0]);
      }
      std::optional<Constant> with =
          scaled(constant, 1, [&](int64_t i) { return scale->at(i); });
      if (!with) {
        context.decline(*op, "a scaled bias would become infinite");
        return false;
      }
      adds.push_back({producer, *with});
    } else if (scale->axis != -1 && producer->kind() != OpKind::Pad) {
      std::optional<int64_t> before = axisBefore(*producer, scale->axis);
      if (!before) {
        context.decline(*op, "the reshape before it mixes channels with other "
                             "dimensions");
        return false;
      }
      scale->axis = *before;
    }
    user = producer;
    value = before;
  }
}

// (x + a) + b => x + (a + b) where x is a contraction, seen through views
static bool mergeAdds(Op *op, Rewriter &rewriter, PassContext &context) {
  Value *x = nullptr, *a = nullptr;
  Value *inner = op->operand(0);
  if (!match::match(inner,
                    match::op<AddOp>(
                        match::value(x, match::through<ReshapeOp, TransposeOp>(
                                            contraction())),
                        match::constant(a))) ||
      x->type() != op->result()->type())
    return false;
  if (!usedOnlyBy(inner, op)) {
    context.decline(*op, "the addition before it has other uses");
    return false;
  }
  Value *sum = rewriter.at(op).create<AddOp>(a, op->operand(1)).result();
  // Folding refuses a sum that is infinite.
  Op *made = sum->definingOp();
  rewriter.setOperands(op, {x, sum});
  if (!foldOp(made, rewriter, context)) {
    rewriter.setOperands(op, {inner, made->operand(1)});
    rewriter.erase(made);
    return false;
  }
  return true;
}

// conv(x * s, W) => conv(x, W * s); conv(x + t, W) => conv(x, W) + sum(W * t)
static bool absorbBefore(Op *op, Rewriter &rewriter, PassContext &context) {
  Value *x = nullptr, *with = nullptr;
  match::Why why = context.why();
  auto alone = [&](Value *value) { return usedOnlyBy(value, op); };
  if (!match::match(op->operand(0),
                    match::where(match::anyOf(byConstant<MulOp>(x, with),
                                              byConstant<AddOp>(x, with)),
                                 alone,
                                 "the scale or shift before it has other uses"),
                    &why)) {
    // Products and sums of two tensors are everywhere; what a vector scales
    // or shifts would go into the weights if it were constant.
    if (match::match(
            op->operand(0),
            match::anyOf(
                match::op<MulOp>(match::value(), match::value(with)),
                match::op<AddOp>(match::value(), match::value(with)))) &&
        (isConstantValue(with) || !sameShape(with, op->operand(0))))
      context.decline(*op, why);
    return false;
  }
  Op *before = op->operand(0)->definingOp();
  std::optional<ChannelVector> by =
      channelVector(with, before->result()->type().shape);
  if (!by)
    return false;
  if (before->kind() == OpKind::Mul) {
    std::optional<Constant> weights = scaledInputs(op, *by, context);
    if (!weights)
      return false;
    setWeights(op, *weights, rewriter);
    rewriter.setOperand(op, 0, x);
    return true;
  }
  if (context.precision == PrecisionMode::F16 ||
      context.precision == PrecisionMode::BF16) {
    // The weights will be rounded, W' = W + e: e then meets x instead of x + t,
    // and a shift is often what makes x small. Where it stands it is part of
    // the kernel before and costs nothing.
    context.decline(*op, "the weights will be rounded, and what that changes "
                         "grows with what the shift before it takes away");
    return false;
  }
  std::optional<std::vector<double>> sums = shiftedOutputs(op, *by, context);
  if (!sums)
    return false;
  OutputChannels channels = outputChannels(op);
  Shape shape(size_t(op->result()->type().rank() - channels.axis), Dim(1));
  shape[0] = channels.count;
  Builder &builder = rewriter.at(op);
  Value *bias = builder.constant(Constant::fromFloats(
      TensorType(op->result()->type().element, shape), *sums));
  ValueMap none;
  Op *copy = cloneOp(*op, none);
  op->parent()->insert(op->getIterator(), copy);
  rewriter.setOperand(copy, 0, x);
  rewriter.replace(
      op, rewriter.at(op).create<AddOp>(copy->result(), bias).result());
  return true;
}

llvm::Expected<bool> runFoldNormalization(Module &module,
                                          PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    rewriter.greedily([&](Op *op, Rewriter &rewriter) {
      switch (op->kind()) {
      case OpKind::Mul:
      case OpKind::Div:
        return scaleUp(op, rewriter, context);
      case OpKind::Add:
        return isConstantValue(op->operand(1)) &&
               mergeAdds(op, rewriter, context);
      case OpKind::Conv:
      case OpKind::ConvTranspose:
      case OpKind::MatMul:
        return absorbBefore(op, rewriter, context);
      default:
        return false;
      }
    });
    changed |= rewriter.changed();
  });
  return changed;
}

} // namespace dlc
