// SPDX-License-Identifier: Apache-2.0
// Exact algebra of pointwise ops. A rule stands here only if it gives the same
// value for every input: NaN, infinities and the sign of zero included.
#include "passes/Canonicalize.h"
#include "passes/Values.h"

#include <cmath>

namespace dlc {

// Larger constants are data, not parameters.
static constexpr int64_t kMaxNegated = 1 << 20;

static bool isFloatOp(Op *op) { return isFloat(op->result()->type().element); }

static bool isPlusZero(double c) { return c == 0 && !std::signbit(c); }
static bool isMinusZero(double c) { return c == 0 && std::signbit(c); }

// The operand of a unary op of `kind` that defines `value`; null otherwise.
static Value *operandOf(Value *value, OpKind kind) {
  Op *op = value->definingOp();
  return op && op->kind() == kind ? op->operand(0) : nullptr;
}

// add(c, x) => add(x, c): constants stand on the right.
static bool constantRight(Op *op, Rewriter &rewriter) {
  if (!op->hasTrait(OpTrait::Commutative) || !isConstantValue(op->operand(0)) ||
      isConstantValue(op->operand(1)))
    return false;
  rewriter.setOperands(op, {op->operand(1), op->operand(0)});
  return true;
}

// x + -0, x - 0, x * 1, x / 1 => x. Not x + 0: it turns -0 into 0.
static bool neutral(Op *op, Rewriter &rewriter) {
  std::optional<double> c = uniformOf(op->operand(1));
  if (!c)
    return false;
  bool drop = false;
  switch (op->kind()) {
  case OpKind::Add:
    drop = isFloatOp(op) ? isMinusZero(*c) : *c == 0;
    break;
  case OpKind::Sub:
    drop = isPlusZero(*c);
    break;
  case OpKind::Mul:
  case OpKind::Div:
    drop = *c == 1;
    break;
  default:
    break;
  }
  return drop && replaceIfSameType(op, op->operand(0), rewriter);
}

// x * -1 => -x
static bool mulMinusOne(Op *op, Rewriter &rewriter) {
  if (uniformOf(op->operand(1)) != -1.0 || !isFloatOp(op) ||
      op->operand(0)->type() != op->result()->type())
    return false;
  rewriter.replace(op, rewriter.at(op).create<NegOp>(op->operand(0)).result());
  return true;
}

// x + -y => x - y, x - -y => x + y
static bool foldNeg(Op *op, Rewriter &rewriter) {
  Value *y = nullptr;
  if (!isFloatOp(op) ||
      !match::match(op->operand(1), match::op<NegOp>(match::value(y))))
    return false;
  Builder &builder = rewriter.at(op);
  Value *with = op->kind() == OpKind::Add
                    ? builder.create<SubOp>(op->operand(0), y).result()
                    : builder.create<AddOp>(op->operand(0), y).result();
  rewriter.replace(op, with);
  return true;
}

// x - c => x + -c, so that others need not know subtractions of constants
static bool subConstant(Op *op, Rewriter &rewriter) {
  std::optional<Constant> c = constantOf(op->operand(1));
  if (!c || !isFloatOp(op) || isConstantValue(op->operand(0)) ||
      c->elements() == 0 || c->elements() > kMaxNegated)
    return false;
  Builder &builder = rewriter.at(op);
  Constant negated;
  if (c->isSplat()) {
    negated = Constant::splat(c->type(), -*c->uniformValue());
  } else {
    std::vector<double> values = c->toFloats();
    for (double &value : values)
      value = -value;
    negated = Constant::fromFloats(c->type(), values);
  }
  Value *value = builder.constant(negated);
  rewriter.replace(op, builder.create<AddOp>(op->operand(0), value).result());
  return true;
}

// x / 2^k => x * 2^-k
static bool divPowerOfTwo(Op *op, Rewriter &rewriter) {
  std::optional<Constant> constant = constantOf(op->operand(1));
  if (!constant || !isFloatOp(op))
    return false;
  std::optional<double> c = constant->uniformValue();
  if (!c || !std::isfinite(*c) || *c == 0)
    return false;
  int exponent;
  DataType element = op->result()->type().element;
  if (std::fabs(std::frexp(*c, &exponent)) != 0.5 ||
      std::fabs(1 / *c) > largestFinite(element) ||
      std::fabs(1 / *c) < smallestNormal(element))
    return false;
  Builder &builder = rewriter.at(op);
  Value *scale = builder.constant(Constant::splat(constant->type(), 1 / *c));
  rewriter.replace(op, builder.create<MulOp>(op->operand(0), scale).result());
  return true;
}

// x^1 => x, x^2 => x * x, x^-1 => 1 / x; x^0.5 => sqrt(x) where x is known to
// be at least +0: they differ on -0 and -inf.
static bool pow(Op *op, Rewriter &rewriter, PassContext &context) {
  std::optional<double> c = uniformOf(op->operand(1));
  Value *x = op->operand(0);
  if (!c || x->type() != op->result()->type())
    return false;
  Builder &builder = rewriter.at(op);
  if (*c == 1) {
    rewriter.replace(op, x);
  } else if (*c == 2) {
    rewriter.replace(op, builder.create<MulOp>(x, x).result());
  } else if (*c == -1 && isFloatOp(op)) {
    rewriter.replace(op, builder.create<ReciprocalOp>(x).result());
  } else if (*c == 0.5 && isFloatOp(op)) {
    if (!isPlusZeroOrMore(x)) {
      context.decline(*op, "the base of a power of 0.5 may be -0 or -inf, "
                           "where sqrt differs");
      return false;
    }
    rewriter.replace(op, builder.create<SqrtOp>(x).result());
  } else {
    return false;
  }
  return true;
}

// f(f(x)) => f(x), -(-x) => x, |-x| => |x|
static bool unaryPair(Op *op, Rewriter &rewriter) {
  Value *input = op->operand(0);
  switch (op->kind()) {
  case OpKind::Neg:
  case OpKind::Not:
    if (Value *x = operandOf(input, op->kind()))
      return replaceIfSameType(op, x, rewriter);
    return false;
  case OpKind::Abs:
    if (Value *x = operandOf(input, OpKind::Neg);
        x && isFloat(x->type().element)) {
      rewriter.setOperand(op, 0, x);
      return true;
    }
    [[fallthrough]];
  case OpKind::Relu:
  case OpKind::Floor:
  case OpKind::Ceil:
  case OpKind::Round:
  case OpKind::Sign:
    if (operandOf(input, op->kind()))
      return replaceIfSameType(op, input, rewriter);
    return false;
  default:
    return false;
  }
}

// max(max(x, a), b) => max(x, max(a, b)), the same for min;
// max(min(max(x, a), b), c) => min(max(x, a), b) for c <= a, c <= b, and its
// mirror image.
static bool mergeClamps(Op *op, Rewriter &rewriter) {
  bool isMax = op->kind() == OpKind::Max;
  std::optional<double> c = uniformOf(op->operand(1));
  Op *inner = op->operand(0)->definingOp();
  if (!c || std::isnan(*c) || !inner ||
      (inner->kind() != OpKind::Max && inner->kind() != OpKind::Min))
    return false;
  std::optional<double> b = uniformOf(inner->operand(1));
  if (!b || std::isnan(*b) || (*b == 0 && *c == 0 && isFloatOp(op)))
    return false;
  if (inner->kind() == op->kind()) {
    bool keepInner = isMax ? *b >= *c : *b <= *c;
    if (keepInner)
      return replaceIfSameType(op, inner->result(), rewriter);
    if (inner->operand(0)->type() != op->result()->type())
      return false;
    rewriter.setOperand(op, 0, inner->operand(0));
    return true;
  }
  Op *innermost = inner->operand(0)->definingOp();
  if (!innermost || innermost->kind() != op->kind())
    return false;
  std::optional<double> a = uniformOf(innermost->operand(1));
  bool implied = a && (isMax ? *c < *a && *c < *b : *c > *a && *c > *b);
  return implied && replaceIfSameType(op, inner->result(), rewriter);
}

// select with a condition that is the same everywhere, select(c, x, x) => x,
// select(!c, x, y) => select(c, y, x)
static bool select(Op *op, Rewriter &rewriter) {
  SelectOp select(op);
  Value *chosen = nullptr;
  if (std::optional<double> c = uniformOf(select.condition()))
    chosen = *c != 0 ? select.onTrue() : select.onFalse();
  else if (select.onTrue() == select.onFalse())
    chosen = select.onTrue();
  if (chosen) {
    if (!sameShape(chosen, op->result()))
      chosen = rewriter.at(op)
                   .create<BroadcastOp>(chosen, op->result()->type().shape)
                   .result();
    return replaceIfSameType(op, chosen, rewriter);
  }
  if (Value *c = nullptr;
      match::match(select.condition(), match::op<NotOp>(match::value(c)))) {
    rewriter.setOperands(op, {c, select.onFalse(), select.onTrue()});
    return true;
  }
  return false;
}

// x & true, x | false => x
static bool logic(Op *op, Rewriter &rewriter) {
  if (op->result()->type().element != DataType::Bool)
    return false;
  std::optional<double> c = uniformOf(op->operand(1));
  if (!c || (*c != 0) != (op->kind() == OpKind::And))
    return false;
  return replaceIfSameType(op, op->operand(0), rewriter);
}

// f(broadcast(x), y) => f(x, y) where y alone gives the result its shape:
// pointwise ops broadcast by themselves.
static bool dropBroadcast(Op *op, Rewriter &rewriter) {
  for (unsigned i = 0; i < op->numOperands(); ++i) {
    auto broadcast =
        llvm::dyn_cast_if_present<BroadcastOp>(op->operand(i)->definingOp());
    if (!broadcast)
      continue;
    llvm::SmallVector<Shape, 3> shapes;
    for (unsigned j = 0; j < op->numOperands(); ++j)
      shapes.push_back(
          (i == j ? broadcast.input() : op->operand(j))->type().shape);
    std::optional<Shape> shape = broadcastShapes(shapes);
    if (!shape || !sameShape(*shape, op->result()->type().shape))
      continue;
    rewriter.setOperand(op, i, broadcast.input());
    return true;
  }
  return false;
}

bool canonicalizePointwise(Op *op, Rewriter &rewriter, PassContext &context) {
  if (!op->hasTrait(OpTrait::Pointwise))
    return false;
  if (constantRight(op, rewriter) || dropBroadcast(op, rewriter))
    return true;
  switch (op->kind()) {
  case OpKind::Add:
    return neutral(op, rewriter) || foldNeg(op, rewriter);
  case OpKind::Sub:
    return neutral(op, rewriter) || foldNeg(op, rewriter) ||
           subConstant(op, rewriter);
  case OpKind::Mul:
    return neutral(op, rewriter) || mulMinusOne(op, rewriter);
  case OpKind::Div:
    return neutral(op, rewriter) || divPowerOfTwo(op, rewriter);
  case OpKind::Pow:
    return pow(op, rewriter, context);
  case OpKind::Max:
  case OpKind::Min:
    return mergeClamps(op, rewriter);
  case OpKind::Select:
    return select(op, rewriter);
  case OpKind::And:
  case OpKind::Or:
    return logic(op, rewriter);
  case OpKind::Cast:
  case OpKind::Convert:
    return canonicalizeCast(op, rewriter, context);
  default:
    return op->numOperands() == 1 && unaryPair(op, rewriter);
  }
}

} // namespace dlc
