// SPDX-License-Identifier: Apache-2.0
// Activations as compositions; f16 and bf16 are computed in f32 and rounded
// once.
#include "compiler/onnx/Operators.h"
#include <cmath>

using namespace dlc;

namespace dlc {

/// Imports `f(x)` of the first input, computed in f32 or wider.
template <class F> static void compose(NodeReader &n, NodeBuilder &b, F f) {
  Value *x = n.input(0);
  if (!isFloat(x->type().element))
    return n.error("input 0 has type " + x->type().str() +
                   ", expected a floating-point tensor");
  Value *wide = b.widen(x);
  if (wide)
    if (Value *y = f(wide))
      n.result(b.cast(y, x->type().element));
}

static Value *isNegative(NodeBuilder &b, Value *x) {
  return b.emit<LessOp>(x, b.like(x, 0));
}

void importLeakyRelu(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 0.01f);
  compose(n, b, [&](Value *x) {
    return b.select(isNegative(b, x), b.scale(x, alpha), x);
  });
}

/// The slope lines up with the last axis, as NumPy broadcasts.
void importPRelu(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *slope = n.input(1);
  if (slope->type().rank() > x->type().rank())
    return n.error("slope " + slope->type().str() +
                   " does not broadcast to the input " + x->type().str());
  n.result(b.select(isNegative(b, x), b.mul(x, slope), x));
}

void importElu(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 1);
  compose(n, b, [&](Value *x) {
    return b.select(isNegative(b, x), b.scale(b.emit<Expm1Op>(x), alpha), x);
  });
}

void importSelu(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 1.67326319217681884765625);
  double gamma = n.real("gamma", 1.05070102214813232421875);
  compose(n, b, [&](Value *x) {
    Value *low = b.scale(b.emit<Expm1Op>(x), alpha);
    return b.scale(b.select(isNegative(b, x), low, x), gamma);
  });
}

void importCelu(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 1);
  compose(n, b, [&](Value *x) {
    Value *low = b.scale(b.emit<Expm1Op>(b.div(x, b.like(x, alpha))), alpha);
    return b.select(isNegative(b, x), low, x);
  });
}

/// clamp(alpha * x + beta, 0, 1)
static Value *hardSigmoid(NodeBuilder &b, Value *x, double alpha, double beta) {
  Value *line = b.addTo(b.scale(x, alpha), beta);
  return b.max(b.min(line, b.like(x, 1)), b.like(x, 0));
}
void importHardSigmoid(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 0.2f), beta = n.real("beta", 0.5);
  compose(n, b, [&](Value *x) { return hardSigmoid(b, x, alpha, beta); });
}
void importHardSwish(NodeReader &n, NodeBuilder &b) {
  compose(n, b,
          [&](Value *x) { return b.mul(x, hardSigmoid(b, x, 1.0 / 6, 0.5)); });
}

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|): neither overflows nor cancels.
static Value *softplus(NodeBuilder &b, Value *x) {
  Value *power = b.emit<ExpOp>(b.emit<NegOp>(b.emit<AbsOp>(x)));
  return b.add(b.emit<ReluOp>(x), b.emit<Log1pOp>(power));
}
void importSoftplus(NodeReader &n, NodeBuilder &b) {
  compose(n, b, [&](Value *x) { return softplus(b, x); });
}
void importMish(NodeReader &n, NodeBuilder &b) {
  compose(n, b,
          [&](Value *x) { return b.mul(x, b.emit<TanhOp>(softplus(b, x))); });
}
void importSoftsign(NodeReader &n, NodeBuilder &b) {
  compose(n, b,
          [&](Value *x) { return b.div(x, b.addTo(b.emit<AbsOp>(x), 1)); });
}
void importThresholdedRelu(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 1);
  compose(n, b, [&](Value *x) {
    return b.select(b.emit<LessOp>(b.like(x, alpha), x), x, b.like(x, 0));
  });
}
void importShrink(NodeReader &n, NodeBuilder &b) {
  double bias = n.real("bias", 0), lambd = n.real("lambd", 0.5);
  Value *x = n.input(0);
  Value *above = b.emit<LessOp>(b.like(x, lambd), x);
  Value *below = b.emit<LessOp>(x, b.like(x, -lambd));
  Value *high = b.sub(x, b.like(x, bias)), *low = b.addTo(x, bias);
  n.result(b.select(above, high, b.select(below, low, b.like(x, 0))));
}

static Value *gelu(NodeBuilder &b, Value *x, bool approximate) {
  Value *inner;
  if (approximate) {
    Value *cube = b.mul(b.mul(x, x), x);
    Value *line = b.add(x, b.scale(cube, 0.044715));
    inner = b.emit<TanhOp>(b.scale(line, std::sqrt(2 / M_PI)));
  } else {
    inner = b.emit<ErfOp>(b.scale(x, M_SQRT1_2));
  }
  return b.mul(b.scale(x, 0.5), b.addTo(inner, 1));
}
void importGelu(NodeReader &n, NodeBuilder &b) {
  bool approximate =
      n.choice("approximate", false, {{"none", false}, {"tanh", true}});
  compose(n, b, [&](Value *x) { return gelu(b, x, approximate); });
}
/// com.microsoft: no attribute, the exact form.
void importExactGelu(NodeReader &n, NodeBuilder &b) {
  compose(n, b, [&](Value *x) { return gelu(b, x, false); });
}
void importBiasGelu(NodeReader &n, NodeBuilder &b) {
  Value *bias = b.widen(n.input(1));
  compose(n, b, [&](Value *x) { return gelu(b, b.add(x, bias), false); });
}
void importFastGelu(NodeReader &n, NodeBuilder &b) {
  Value *bias = n.hasInput(1) ? b.widen(n.input(1)) : nullptr;
  compose(n, b,
          [&](Value *x) { return gelu(b, bias ? b.add(x, bias) : x, true); });
}

void importSwish(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 1);
  compose(n, b, [&](Value *x) {
    return b.mul(x, b.emit<SigmoidOp>(alpha == 1 ? x : b.scale(x, alpha)));
  });
}
/// The gate a, as Swish, times the line b.
void importSwiGLU(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 1);
  Value *line = n.input(1);
  if (n.input(0)->type() != line->type())
    return n.error("inputs are " + n.input(0)->type().str() + " and " +
                   line->type().str() + ", expected the same type");
  line = b.widen(line);
  compose(n, b, [&](Value *x) {
    Value *gate = b.emit<SigmoidOp>(alpha == 1 ? x : b.scale(x, alpha));
    return b.mul(b.mul(x, gate), line);
  });
}
void importQuickGelu(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 1.702);
  compose(n, b, [&](Value *x) {
    return b.mul(x, b.emit<SigmoidOp>(b.scale(x, alpha)));
  });
}

} // namespace dlc
