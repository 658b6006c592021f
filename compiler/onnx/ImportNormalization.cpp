// SPDX-License-Identifier: Apache-2.0
// Normalisations as compositions; statistics in f32 or wider.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

static bool isVector(NodeReader &n, unsigned i) {
  if (n.input(i)->type().rank() == 1)
    return true;
  n.error("input " + llvm::Twine(i) + " has type " + n.input(i)->type().str() +
          ", expected one value per channel");
  return false;
}

/// x * s + (bias - mean * s) with s = scale / sqrt(variance + epsilon): two
/// factors per channel that folding can move into weights.
void importBatchNormalization(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  double epsilon = n.real("epsilon", 1e-5f);
  n.real("momentum", 0.9); // training only
  if (n.opset() < 9 && n.integer("spatial", 1) != 1)
    return n.error("spatial is 0, supported is 1");
  if (n.opset() >= 14 && n.flag("training_mode", false))
    return n.error("training_mode is 1, supported is inference");
  for (unsigned i = 1; i < 5; ++i) {
    if (!isVector(n, i))
      return;
    if (x->type().rank() > 1 &&
        provedEqual(n.input(i)->type().shape[0], x->type().shape[1]) ==
            Proof::Refuted)
      return n.error("input " + llvm::Twine(i) + " has " +
                     n.input(i)->type().shape[0].str() +
                     " values, expected one per channel of " + x->type().str());
  }
  int64_t rank = x->type().rank();
  Value *scale = b.widen(n.input(1)), *bias = b.widen(n.input(2));
  Value *mean = b.widen(n.input(3)), *variance = b.widen(n.input(4));
  Value *factor = b.div(scale, b.emit<SqrtOp>(b.addTo(variance, epsilon)));
  if (!factor)
    return;
  DataType wide = computeType(x->type().element);
  Value *offset = b.sub(bias, b.mul(mean, factor));
  Value *y = b.mul(b.widen(x), b.cast(b.perChannel(factor, rank), wide));
  y = b.add(y, b.cast(b.perChannel(offset, rank), wide));
  n.result(b.cast(y, x->type().element));
}

void importInstanceNormalization(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t rank = x->type().rank();
  double epsilon = n.real("epsilon", 1e-5f);
  if (rank < 3)
    return n.error("input 0 has type " + x->type().str() +
                   ", expected [N, C, ...] with a spatial dimension");
  if (!isVector(n, 1) || !isVector(n, 2))
    return;
  Value *y = b.normalize(x, countingAxes(2, rank), epsilon);
  y = b.mul(y, b.widen(b.perChannel(n.input(1), rank)));
  y = b.add(y, b.widen(b.perChannel(n.input(2), rank)));
  n.result(b.cast(y, x->type().element));
}

/// `stash_type`: the type of the statistics; ours is never narrower than f32.
static void readStashType(NodeReader &n) {
  int64_t type = n.integer("stash_type", 1);
  if (type != 1 && type != 11 && type != 10 && type != 16)
    n.error("attribute \"stash_type\" is " + onnxTypeName(int(type)) +
            ", expected a floating-point type");
}

void importLayerNormalization(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t rank = x->type().rank();
  int64_t axis = n.axis("axis", -1, rank);
  double epsilon = n.real("epsilon", 1e-5f);
  readStashType(n);
  Value *mean = nullptr, *inverse = nullptr;
  Value *y = b.normalize(x, countingAxes(axis, rank), epsilon, &mean, &inverse);
  y = b.mul(y, b.widen(n.input(1)));
  if (n.hasInput(2))
    y = b.add(y, b.widen(n.input(2)));
  n.result(b.cast(y, x->type().element));
  n.result(1, mean);
  n.result(2, inverse);
}

/// x / sqrt(mean(x^2) + epsilon) * scale
void importRMSNormalization(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *wide = b.widen(x);
  int64_t rank = x->type().rank();
  int64_t axis = n.axis("axis", -1, rank);
  double epsilon = n.real("epsilon", 1e-5f);
  readStashType(n);
  Value *square = b.mean(b.mul(wide, wide), countingAxes(axis, rank));
  Value *y = b.mul(wide, b.emit<RsqrtOp>(b.addTo(square, epsilon)));
  y = b.mul(y, b.widen(n.input(1)));
  n.result(b.cast(y, x->type().element));
}

/// Up to opset 20 scale and bias have one value per group, then per channel.
void importGroupNormalization(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  const Shape &shape = x->type().shape;
  int64_t rank = x->type().rank(), groups = n.requiredInteger("num_groups");
  double epsilon = n.real("epsilon", 1e-5f);
  if (n.opset() >= 21)
    readStashType(n);
  if (rank < 3)
    return n.error("input 0 has type " + x->type().str() +
                   ", expected [N, C, ...] with a spatial dimension");
  if (!isVector(n, 1) || !isVector(n, 2))
    return;
  if (groups < 1 || (shape[1].isConstant() && shape[1].constant() % groups))
    return n.error("num_groups is " + llvm::Twine(groups) +
                   ", expected a divisor of " + shape[1].str() + " channels");
  std::vector<Dim> grouped{shape[0], Dim(groups), floorDiv(shape[1], groups)};
  grouped.insert(grouped.end(), shape.begin() + 2, shape.end());
  Value *y =
      b.normalize(b.reshape(x, grouped), countingAxes(2, rank + 1), epsilon);
  Value *scale = b.widen(n.input(1)), *bias = b.widen(n.input(2));
  if (n.opset() < 21) {
    y = b.mul(y, b.perChannel(scale, rank + 1));
    y = b.add(y, b.perChannel(bias, rank + 1));
    if (y)
      n.result(b.cast(b.reshape(y, shape), x->type().element));
    return;
  }
  if (!y)
    return;
  y = b.mul(b.reshape(y, shape), b.perChannel(scale, rank));
  n.result(b.cast(b.add(y, b.perChannel(bias, rank)), x->type().element));
}

/// x / ||x||_p along one axis; where the norm is 0 the result is 0.
void importLpNormalization(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *wide = b.widen(x);
  int64_t axis = n.axis("axis", -1, x->type().rank()), p = n.integer("p", 2);
  if (p != 1 && p != 2)
    return n.error("attribute \"p\" is " + llvm::Twine(p) +
                   ", expected 1 or 2");
  Value *sum = b.reduce(p == 1 ? b.emit<AbsOp>(wide) : b.mul(wide, wide),
                        ReduceKind::Sum, {axis});
  Value *norm = p == 1 ? sum : b.emit<SqrtOp>(sum);
  if (!norm)
    return;
  Value *zero = b.like(norm, 0);
  Value *y =
      b.select(b.emit<EqualOp>(norm, zero), b.like(wide, 0), b.div(wide, norm));
  n.result(b.cast(y, x->type().element));
}

/// (x - mean) / sqrt(variance) over `axes`, with ONNX's 1e-9 against division
/// by zero.
void importMeanVarianceNormalization(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *wide = b.widen(x);
  bool given = n.has("axes");
  std::vector<int64_t> axes = n.integers("axes");
  axes = n.normalizeAxes(given ? axes : std::vector<int64_t>{0, 2, 3},
                         x->type().rank(), "attribute \"axes\"");
  Value *centred = b.sub(wide, b.mean(wide, axes));
  Value *deviation = b.emit<SqrtOp>(b.mean(b.mul(centred, centred), axes));
  Value *y = b.div(centred, b.addTo(deviation, 1e-9));
  n.result(b.cast(y, x->type().element));
}

/// x / (bias + alpha/size * sum of squares over a window of channels)^beta
void importLRN(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t rank = x->type().rank(), size = n.requiredInteger("size");
  double alpha = n.real("alpha", 1e-4f), beta = n.real("beta", 0.75);
  double bias = n.real("bias", 1);
  if (rank < 2)
    return n.error("input 0 has type " + x->type().str() +
                   ", expected [N, C, ...]");
  if (size < 1 || size > (1 << 20))
    return n.error("attribute \"size\" is " + llvm::Twine(size) +
                   ", expected a positive number of channels");
  Value *wide = b.widen(x);
  std::vector<int64_t> window(size_t(rank), 1), ones(size_t(rank), 1);
  std::vector<int64_t> low(size_t(rank), 0), high(size_t(rank), 0);
  window[1] = size;
  low[1] = (size - 1) / 2;
  high[1] = size / 2;
  Value *sum = b.emit<PoolOp>(b.mul(wide, wide), PoolKind::Sum, window, ones,
                              low, high, ones);
  Value *base = b.addTo(b.scale(sum, alpha / double(size)), bias);
  if (!base)
    return;
  Value *y = b.div(wide, b.emit<PowOp>(base, b.like(base, beta)));
  n.result(b.cast(y, x->type().element));
}

} // namespace dlc
