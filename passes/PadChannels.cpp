// SPDX-License-Identifier: Apache-2.0
// First layers with few channels:
//   conv(x, W) => conv(pad(x), pad(W))    zeros up to 16 bytes of channels
// A convolution copies 16 bytes of neighbouring channels at a time; with three
// channels it would copy single elements. The zeros cost products, which are
// few and cheap there, and the pad becomes part of the kernel that changes the
// image's layout and type anyway. Only below one 16-byte chunk: above, padding
// what another kernel has written costs a pass over memory.
#include "passes/Pass.h"
#include "passes/Values.h"

namespace dlc {

static bool padChannels(Op *op, Rewriter &rewriter, PassContext &context) {
  auto conv = llvm::dyn_cast<ConvOp>(op);
  if (!conv)
    return false;
  const TensorType &input = conv.input()->type();
  std::optional<int64_t> channels = input.dim(1).tryConstant();
  if (!channels || !isFloat(input.element) || bitWidth(input.element) > 32)
    return false;
  const int64_t chunk = 128 / bitWidth(input.element);
  if (*channels >= chunk)
    return false;
  if (conv.groups() != 1 || *channels < 2) {
    context.decline(*op, conv.groups() != 1
                             ? "its channels are split into groups"
                             : "one channel is contiguous along its rows");
    return false;
  }
  if (!isConstantValue(conv.filter())) {
    context.decline(*op, "its filter is not constant");
    return false;
  }
  if (context.costs && context.target &&
      context.costs->readsImages(*op, *context.target)) {
    context.decline(*op, "its kernel reads the channels wherever they lie");
    return false;
  }
  Builder &builder = rewriter.at(op);
  for (unsigned i : {0u, 1u}) {
    Value *operand = op->operand(i);
    const size_t rank = size_t(operand->type().rank());
    std::vector<Dim> low(rank, 0), high(rank, 0);
    high[1] = chunk - *channels;
    Value *padded = builder.create<PadOp>(operand, nullptr, low, high).result();
    rewriter.setOperand(op, i, padded);
  }
  return true;
}

llvm::Expected<bool> runPadChannels(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    rewriter.greedily(
        [&](Op *op, Rewriter &r) { return padChannels(op, r, context); });
    changed |= rewriter.changed();
  });
  return changed;
}

} // namespace dlc
