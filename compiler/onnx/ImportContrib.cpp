// SPDX-License-Identifier: Apache-2.0
// Fused operators that onnxruntime's graph optimisers write into models.
#include "compiler/onnx/Operators.h"
#include "compiler/onnx/WindowGeometry.h"

using namespace dlc;

namespace dlc {

/// Layer norm, or RMS norm, of the sum of an input, a skip and a bias.
static void skipNormalization(NodeReader &n, NodeBuilder &b, bool centred) {
  Value *x = n.input(0);
  double epsilon = n.real("epsilon", 1e-12f);
  int64_t rank = x->type().rank();
  if (rank < 1)
    return n.error("input 0 has type " + x->type().str() +
                   ", expected at least one dimension");
  Value *sum = b.add(b.widen(x), b.widen(n.input(1)));
  unsigned bias = centred ? 4 : 3;
  if (n.hasInput(bias))
    sum = b.add(sum, b.widen(n.input(bias)));
  Value *y, *mean = nullptr, *inverse = nullptr;
  if (centred) {
    y = b.normalize(sum, {rank - 1}, epsilon, &mean, &inverse);
  } else {
    Value *square = b.mean(b.mul(sum, sum), {rank - 1});
    inverse = b.emit<RsqrtOp>(b.addTo(square, epsilon));
    y = b.mul(sum, inverse);
  }
  y = b.mul(y, b.widen(n.input(2)));
  if (centred && n.hasInput(3))
    y = b.add(y, b.widen(n.input(3)));
  n.result(0, b.cast(y, x->type().element));
  n.result(1, mean);
  n.result(2, inverse);
  n.result(3, b.cast(sum, x->type().element));
}
void importSkipLayerNormalization(NodeReader &n, NodeBuilder &b) {
  skipNormalization(n, b, /*centred=*/true);
}
void importSkipSimplifiedLayerNormalization(NodeReader &n, NodeBuilder &b) {
  skipNormalization(n, b, /*centred=*/false);
}

/// RMS norm under its older name.
void importSimplifiedLayerNormalization(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *wide = b.widen(x);
  int64_t rank = x->type().rank(), axis = n.axis("axis", -1, rank);
  double epsilon = n.real("epsilon", 1e-5f);
  n.integer("stash_type", 1); // ours is never narrower than f32
  Value *square = b.mean(b.mul(wide, wide), countingAxes(axis, rank));
  Value *inverse = b.emit<RsqrtOp>(b.addTo(square, epsilon));
  Value *y = b.mul(b.mul(wide, inverse), b.widen(n.input(1)));
  n.result(0, b.cast(y, x->type().element));
  n.result(1, inverse);
}

/// An activation by name, with the parameters that it takes.
static Value *activate(NodeReader &n, NodeBuilder &b, Value *x) {
  std::string name = n.text("activation", "");
  std::vector<double> parameters = n.reals("activation_params");
  size_t needed = name == "LeakyRelu"                       ? 1
                  : name == "Clip" || name == "HardSigmoid" ? 2
                                                            : 0;
  if (parameters.size() < needed)
    n.error("activation_params has " + llvm::Twine(parameters.size()) +
            " values, expected " + llvm::Twine(needed) + " for " + name);
  if (n.failed() || name.empty())
    return x;
  if (name == "Relu")
    return b.emit<ReluOp>(x);
  if (name == "Tanh")
    return b.emit<TanhOp>(x);
  if (name == "Sigmoid")
    return b.emit<SigmoidOp>(x);
  if (name == "LeakyRelu")
    return b.select(b.emit<LessOp>(x, b.like(x, 0)), b.scale(x, parameters[0]),
                    x);
  if (name == "Clip")
    return b.min(b.max(x, b.like(x, parameters[0])), b.like(x, parameters[1]));
  if (name == "HardSigmoid") {
    Value *line = b.addTo(b.scale(x, parameters[0]), parameters[1]);
    return b.max(b.min(line, b.like(x, 1)), b.like(x, 0));
  }
  n.error("activation \"" + name +
          "\" is not supported: supported are Relu, Tanh, Sigmoid, LeakyRelu, "
          "Clip, HardSigmoid");
  return x;
}

/// Convolution, bias, a sum, an activation.
void importFusedConv(NodeReader &n, NodeBuilder &b) {
  Value *y = addChannelBias(
      n, b, convolve(n, b, n.input(0), n.input(1), std::nullopt), 2);
  if (n.hasInput(3))
    y = b.add(y, n.input(3));
  n.result(activate(n, b, y));
}

/// Integer product of matrices, scaled back to floating point.
void importMatMulIntegerToFloat(NodeReader &n, NodeBuilder &b) {
  auto whole = [&](unsigned i, unsigned zero) {
    Value *x = b.cast(n.input(i), DataType::I32);
    return n.hasInput(zero) ? b.sub(x, b.cast(n.input(zero), DataType::I32))
                            : x;
  };
  for (unsigned i : {0u, 1u})
    if (n.input(i)->type().rank() < 2)
      return n.error("input " + llvm::Twine(i) + " has type " +
                     n.input(i)->type().str() + ", expected a matrix");
  Value *sum =
      b.emit<MatMulOp>(whole(0, 4), whole(1, 5), false, false, DataType::I32);
  DataType type = n.input(2)->type().element;
  Value *y = b.mul(b.cast(sum, type), b.mul(n.input(2), n.input(3)));
  n.result(n.hasInput(6) ? b.add(y, n.input(6)) : y);
}

} // namespace dlc
