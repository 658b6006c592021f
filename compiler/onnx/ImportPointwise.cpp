// SPDX-License-Identifier: Apache-2.0
// Pointwise operators that need a word more than their op record says.
#include "compiler/onnx/Operators.h"
#include <limits>

using namespace dlc;

namespace dlc {

void importIdentity(NodeReader &n, NodeBuilder &b) { n.result(n.input(0)); }

/// Dropout at inference: its input. Training is refused.
void importDropout(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  n.real("ratio", 0.5);
  n.result(x);
  if (n.wantsResult(1)) {
    DataType type = n.opset() >= 10 ? DataType::Bool : x->type().element;
    n.result(1, b.broadcast(b.scalar(type, 1), x->type().shape));
  }
}
/// From opset 12 the ratio is an input.
void importDropoutWithInputs(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  n.integer("seed", 0);
  n.input(1); // the ratio plays no part at inference
  if (n.hasInput(2)) {
    std::optional<Constant> training = n.constant(2, "training_mode");
    if (training && training->uniformValue() != 0.0)
      return n.error("training_mode is true, supported is inference");
  }
  n.result(x);
  if (n.wantsResult(1))
    n.result(1, b.broadcast(b.scalar(DataType::Bool, 1), x->type().shape));
}

template <class T> static void importVariadic(NodeReader &n, NodeBuilder &b) {
  Value *total = n.inputs()[0];
  for (Value *next : n.inputs().drop_front())
    total = b.emit<T>(total, next);
  n.result(total);
}
void importMax(NodeReader &n, NodeBuilder &b) { importVariadic<MaxOp>(n, b); }
void importMin(NodeReader &n, NodeBuilder &b) { importVariadic<MinOp>(n, b); }
void importSum(NodeReader &n, NodeBuilder &b) { importVariadic<AddOp>(n, b); }
void importMean(NodeReader &n, NodeBuilder &b) {
  DataType type = n.input(0)->type().element;
  Value *total = b.widen(n.inputs()[0]);
  for (Value *next : n.inputs().drop_front())
    total = b.add(total, b.widen(next));
  if (total)
    n.result(b.cast(b.div(total, b.like(total, n.numInputs())), type));
}

void importGreater(NodeReader &n, NodeBuilder &b) {
  n.result(b.emit<LessOp>(n.input(1), n.input(0)));
}
void importGreaterOrEqual(NodeReader &n, NodeBuilder &b) {
  n.result(b.emit<LessEqualOp>(n.input(1), n.input(0)));
}

/// x^y in x's type; the exponent may have another.
void importPow(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *y = n.input(1);
  DataType type = x->type().element;
  if (std::optional<Constant> power = n.context.known.constant(y)) {
    std::optional<double> value = power->uniformValue();
    // Exact, and far cheaper than a power. Only where y does not widen x.
    if (value == 2.0 && power->elements() == 1 &&
        y->type().rank() <= x->type().rank())
      return n.result(b.mul(x, x));
  }
  if (isInteger(type) && isFloat(y->type().element)) {
    Value *power = b.emit<PowOp>(b.cast(x, y->type().element), y);
    return n.result(b.cast(power, type));
  }
  n.result(b.emit<PowOp>(x, b.cast(y, type)));
}

void importMod(NodeReader &n, NodeBuilder &b) {
  bool fmod = n.flag("fmod", false);
  Value *x = n.input(0), *y = n.input(1);
  n.result(fmod ? b.emit<RemOp>(x, y) : b.emit<ModOp>(x, y));
}

void importBitShift(NodeReader &n, NodeBuilder &b) {
  if (!n.has("direction"))
    n.error("attribute \"direction\" is missing");
  bool left = n.choice("direction", true, {{"LEFT", true}, {"RIGHT", false}});
  Value *x = n.input(0), *y = n.input(1);
  n.result(left ? b.emit<ShiftLeftOp>(x, y) : b.emit<ShiftRightOp>(x, y));
}

void importAnd(NodeReader &n, NodeBuilder &b) {
  n.result(b.emit<AndOp>(n.input(0), n.input(1)));
}
void importOr(NodeReader &n, NodeBuilder &b) {
  n.result(b.emit<OrOp>(n.input(0), n.input(1)));
}
void importXor(NodeReader &n, NodeBuilder &b) {
  n.result(b.emit<XorOp>(n.input(0), n.input(1)));
}
void importNot(NodeReader &n, NodeBuilder &b) {
  n.result(b.emit<NotOp>(n.input(0)));
}

void importIsInf(NodeReader &n, NodeBuilder &b) {
  bool negative = n.flag("detect_negative", true);
  bool positive = n.flag("detect_positive", true);
  Value *x = n.input(0);
  double infinity = std::numeric_limits<double>::infinity();
  if (negative && positive)
    return n.result(b.emit<IsInfOp>(x));
  if (!negative && !positive)
    return n.result(b.broadcast(b.scalar(DataType::Bool, 0), x->type().shape));
  n.result(b.emit<EqualOp>(x, b.like(x, positive ? infinity : -infinity)));
}

/// A bound of Clip: one element, whatever its rank.
static Value *bound(NodeReader &n, NodeBuilder &b, unsigned i) {
  Value *value = n.input(i);
  if (!value->type().elementCount().isConstant(1)) {
    n.error("input " + llvm::Twine(i) + " has type " + value->type().str() +
            ", expected a scalar");
    return nullptr;
  }
  return b.reshape(value, {});
}
/// min(max(x, low), high): where low > high the result is high.
void importClip(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  if (n.hasInput(1))
    x = b.max(x, bound(n, b, 1));
  if (n.hasInput(2))
    x = b.min(x, bound(n, b, 2));
  n.result(x);
}
void importClipWithAttributes(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  bool hasLow = n.has("min"), hasHigh = n.has("max");
  double low = n.real("min", 0), high = n.real("max", 0);
  if (hasLow)
    x = b.max(x, b.like(x, low));
  if (hasHigh)
    x = b.min(x, b.like(x, high));
  n.result(x);
}

static bool isFloat8(DataType type) {
  return type == DataType::F8E4M3 || type == DataType::F8E5M2;
}
static void castTo(NodeReader &n, NodeBuilder &b, DataType to) {
  if (n.opset() >= 19 && !n.flag("saturate", true) && isFloat8(to))
    return n.error("saturate is 0 for " + stringify(to) + ", supported is 1");
  if (n.opset() >= 24)
    n.text("round_mode", "up"); // of FLOAT8E8M0 alone, which is refused anyway
  Value *x = n.input(0);
  // Floats wrap on their way to 4 bits, as ONNX's tests have it: integers do.
  if (bitWidth(to) == 4 && isFloat(x->type().element))
    x = b.cast(x, DataType::I32);
  n.result(b.cast(x, to));
}
void importCast(NodeReader &n, NodeBuilder &b) {
  if (std::optional<DataType> to = n.elementType("to"))
    castTo(n, b, *to);
}
void importCastLike(NodeReader &n, NodeBuilder &b) {
  castTo(n, b, n.input(1)->type().element);
}

} // namespace dlc
