// SPDX-License-Identifier: Apache-2.0
// Stores f32 values as f16 or bf16, or lets f32 contractions round to tf32:
//   conv(x: f32, w: f32) => convert<f32>(conv(convert<f16>(x), w: f16))
// Inputs and outputs of the model keep their types. Converts that meet cancel
// in Canonicalize; the others are absorbed when fusing, where arithmetic is in
// f32 whatever the types say.
#include "passes/ConstantFold.h"
#include "passes/PrecisionPolicy.h"
#include "passes/RoundWeights.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

namespace {
class Lowering {
public:
  Lowering(Graph &graph, DataType narrow, PassContext &context)
      : graph(graph), narrow(narrow), policy(graph, narrow, context),
        rewriter(graph) {}

  bool run() {
    // Asked before operands become narrow: a branch of an If goes on reading
    // f32, also where it gives integers alone. Converts of an earlier run have
    // done their part.
    llvm::SmallVector<Op *, 0> ops;
    for (Op &op : graph.ops())
      if (touchesF32(op) && op.kind() != OpKind::Convert)
        ops.push_back(&op);
    for (Op *op : ops) {
      if (policy.isWide(op))
        widen(op);
      else
        lower(op);
    }
    for (auto [i, output] : llvm::enumerate(graph.outputs()))
      if (lowered.contains(output))
        rewriter.setOutput(unsigned(i), wideOf(output));
    return rewriter.changed();
  }

private:
  bool isF32(const Value *value) const {
    return value && value->type().element == DataType::F32;
  }

  // Is it read from where it is stored narrow?
  bool isWidened(const Value *value) const {
    const Op *op = value->definingOp();
    return op && op->kind() == OpKind::Convert &&
           op->operand(0)->type().element == narrow;
  }

  Value *convert(Value *value, DataType to) {
    Builder &builder = rewriter.at(&*graph.begin());
    if (Op *op = value->definingOp()) {
      builder.location = op->location();
      builder.setInsertionPointAfter(op);
    }
    return builder.create<ConvertOp>(value, to).result();
  }

  Value *narrowOf(Value *value) {
    Value *&narrowed = narrows[value];
    if (narrowed)
      return narrowed;
    if (std::optional<Constant> constant = constantOf(value)) {
      Builder &builder = rewriter.at(value->definingOp());
      narrowed = builder.constant(convertConstant(*constant, narrow));
    } else {
      narrowed = convert(value, narrow);
    }
    return narrowed;
  }

  /// The same, as what `op` reads as operand `i`.
  Value *narrowOperand(Op *op, unsigned i) {
    Value *value = op->operand(i);
    std::optional<Constant> constant = constantOf(value);
    if (i != 1 || !constant)
      return narrowOf(value);
    Value *&rounded = weights[value];
    if (rounded)
      return rounded;
    if (std::optional<Constant> c = roundedWeights(*op, *constant, narrow))
      rounded = rewriter.at(value->definingOp()).constant(*c);
    else
      rounded = narrowOf(value);
    return rounded;
  }

  /// The f32 form of a value that is stored narrow.
  Value *wideOf(Value *value) {
    Value *&widened = wides[value];
    if (!widened)
      widened = convert(value, DataType::F32);
    return widened;
  }

  void widen(Op *op) {
    for (unsigned i = 0; i < op->numOperands(); ++i) {
      Value *operand = op->operand(i);
      if (!operand)
        continue;
      if (lowered.contains(operand))
        rewriter.setOperand(op, i, wideOf(operand));
      else if (isF32(operand) && !isConstantValue(operand) &&
               policy.isStoredNarrow(operand) && !isWidened(operand) &&
               !policy.isPosition(op))
        rewriter.setOperand(op, i, wideOf(narrowOf(operand)));
    }
  }

  void lower(Op *op) {
    for (unsigned i = 0; i < op->numOperands(); ++i)
      if (isF32(op->operand(i)))
        rewriter.setOperand(op, i, narrowOperand(op, i));
    if (policy.keepsResult(op)) {
      rewriter.setAttribute(op,
                            op->kind() == OpKind::MatMul
                                ? MatMulOp::resultTypeAttr
                                : ConvOp::resultTypeAttr,
                            Attribute(DataType::F32));
      return;
    }
    for (unsigned i = 0; i < op->numResults(); ++i) {
      Value *result = op->result(i);
      if (!isF32(result))
        continue;
      rewriter.setType(result, result->type().withElement(narrow));
      lowered.insert(result);
    }
  }

  Graph &graph;
  DataType narrow;
  PrecisionPolicy policy;
  Rewriter rewriter;
  llvm::DenseMap<Value *, Value *> narrows, wides, weights;
  llvm::DenseSet<Value *> lowered; // results whose type this pass changed
};
} // namespace

// Marks f32 contractions: their operands may be rounded to tf32.
static bool allowTf32(Graph &graph) {
  Rewriter rewriter(graph);
  for (Op &op : graph) {
    if ((op.kind() != OpKind::MatMul && op.kind() != OpKind::Conv &&
         op.kind() != OpKind::ConvTranspose) ||
        op.operand(0)->type().element != DataType::F32)
      continue;
    const unsigned tf32 = tf32AttrOf(op);
    if (op.attribute(tf32) == Attribute(true))
      continue;
    rewriter.setAttribute(&op, tf32, true);
  }
  return rewriter.changed();
}

llvm::Expected<bool> runLowerPrecision(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    switch (context.precision) {
    case PrecisionMode::AsTyped:
      break;
    case PrecisionMode::TF32:
      changed |= allowTf32(graph);
      break;
    case PrecisionMode::F16:
      changed |= Lowering(graph, DataType::F16, context).run();
      break;
    case PrecisionMode::BF16:
      changed |= Lowering(graph, DataType::BF16, context).run();
      break;
    }
  });
  return changed;
}

} // namespace dlc
