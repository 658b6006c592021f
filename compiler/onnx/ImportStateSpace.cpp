// SPDX-License-Identifier: Apache-2.0
// Operators of state-space models.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

/// A depthwise convolution over the past state and the input; the state that
/// comes out is the end of both.
void importCausalConvWithState(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *w = n.input(1);
  bool gated = n.choice("activation", false,
                        {{"none", false}, {"silu", true}, {"swish", true}});
  const TensorType &filter = w->type();
  if (x->type().rank() != 3 || filter.rank() != 3 || !filter.isStatic())
    return n.error("input is " + x->type().str() + " and weight " +
                   filter.str() +
                   ", expected [batch, channels, length] and [channels, 1, k]");
  int64_t channels = filter.shape[0].constant(),
          past = filter.shape[2].constant() - 1;
  if (past < 0)
    return n.error("weight is " + filter.str() + ", expected a kernel");
  Value *whole;
  if (n.hasInput(3)) {
    whole = b.concat({n.input(3), x}, 2);
  } else {
    std::vector<Dim> low{Dim(0), Dim(0), Dim(past)}, high(3, Dim(0));
    whole = past ? b.emit<PadOp>(x, nullptr, low, high) : x;
  }
  std::vector<int64_t> ones{1}, zeros{0};
  Value *y = b.emit<ConvOp>(whole, w, ones, zeros, zeros, ones, channels);
  if (n.hasInput(2)) {
    if (n.input(2)->type().rank() != 1)
      return n.error("bias is " + n.input(2)->type().str() +
                     ", expected a vector");
    y = b.add(y, b.perChannel(n.input(2), 3));
  }
  if (gated && y) {
    Value *wide = b.widen(y);
    y = b.cast(b.mul(wide, b.emit<SigmoidOp>(wide)), x->type().element);
  }
  n.result(0, y);
  if (whole)
    n.result(1, b.slice(whole, 2, whole->type().shape[2] - past, past));
}

} // namespace dlc
