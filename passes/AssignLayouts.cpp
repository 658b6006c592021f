// SPDX-License-Identifier: Apache-2.0
// Layouts of contractions and windows by the cost model's preference:
//   conv(x, w) => copy(conv(copy<nhwc>(x), copy<nhwc>(w)): nhwc)
// and then the copies move until they meet:
//   f(copy(x))           => copy(f(x))      f pointwise, concat, pool, pad,
//   slice, resize copy(f(x))           => f(x)            where f may write
//   that layout itself reduce(copy(x))      => reduce(x) copy(copy(x)) =>
//   copy(x)
// Copies of constants fold. What is left is absorbed as a view when fusing.
#include "passes/Canonicalize.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

static bool hasPreference(const Op &op) {
  return op.kind() == OpKind::Conv || op.kind() == OpKind::ConvTranspose ||
         op.kind() == OpKind::MatMul;
}

// Ops that read and write any layout: coordinates are logical.
static bool anyLayout(const Op &op) {
  switch (op.kind()) {
  case OpKind::Concat:
  case OpKind::Pool:
  case OpKind::Pad:
  case OpKind::Slice:
  case OpKind::Resize:
    return true;
  default:
    return op.hasTrait(OpTrait::Pointwise);
  }
}

static LayoutCopyOp copyOf(Value *value) {
  return llvm::dyn_cast_if_present<LayoutCopyOp>(value ? value->definingOp()
                                                       : nullptr);
}

// Gives the result of `op` another layout; all who read it read a copy in the
// layout that it had.
static void setResultLayout(Op *op, const Layout &layout, Rewriter &rewriter) {
  Value *result = op->result();
  Layout before = result->type().layout;
  rewriter.setType(result, result->type().withLayout(layout));
  Builder &builder = rewriter.at(op);
  builder.setInsertionPointAfter(op);
  Op *copy = builder.create<LayoutCopyOp>(result, before).op();
  rewriter.replaceValue(result, copy->result());
  rewriter.setOperand(copy, 0, result);
}

// The contraction reads and writes what it prefers.
static bool chooseLayouts(Op *op, Rewriter &rewriter, PassContext &context) {
  if (!hasPreference(*op))
    return false;
  bool changed = false;
  for (unsigned i = 0; i < op->numOperands(); ++i) {
    Value *operand = op->operand(i);
    Layout wanted =
        context.costs->preferredLayout(*op, int(i), *context.target);
    if (operand->type().layout == wanted)
      continue;
    Value *copy =
        rewriter.at(op).create<LayoutCopyOp>(operand, wanted).result();
    rewriter.setOperand(op, i, copy);
    changed = true;
  }
  Layout wanted = context.costs->preferredLayout(*op, -1, *context.target);
  if (op->result()->type().layout != wanted) {
    setResultLayout(op, wanted, rewriter);
    changed = true;
  }
  if (!changed && op->result()->type().layout.isRowMajor())
    context.decline(*op, "the cost model prefers the layouts that it has");
  return changed;
}

// f(copy(x), ...) => copy(f(x, ...)) where most of the operands that have the
// result's rank are copies from one layout.
static bool sinkCopies(Op *op, Rewriter &rewriter, PassContext &context) {
  if (!anyLayout(*op))
    return false;
  int64_t rank = op->result()->type().rank();
  std::optional<Layout> from;
  llvm::SmallVector<unsigned, 4> copies;
  unsigned others = 0;
  for (unsigned i = 0; i < op->numOperands(); ++i) {
    Value *operand = op->operand(i);
    if (!operand || operand->type().rank() != rank || isConstantValue(operand))
      continue;
    if (op->hasTrait(OpTrait::Pointwise) && !sameShape(operand, op->result()))
      continue;
    LayoutCopyOp copy = copyOf(operand);
    const Layout *layout = copy ? &copy.input()->type().layout : nullptr;
    if (!copy || layout->isRowMajor() ||
        operand->type().layout != op->result()->type().layout ||
        (from && *from != *layout)) {
      ++others;
      continue;
    }
    from = *layout;
    copies.push_back(i);
  }
  if (copies.empty())
    return false;
  if (others > copies.size()) {
    context.decline(*op, "most of its operands have the layout of its result");
    return false;
  }
  for (unsigned i : copies)
    rewriter.setOperand(op, i, copyOf(op->operand(i)).input());
  setResultLayout(op, *from, rewriter);
  return true;
}

// reduce(copy(x)) => reduce(x)
static bool readThroughCopy(Op *op, Rewriter &rewriter) {
  if (op->kind() != OpKind::Reduce)
    return false;
  LayoutCopyOp copy = copyOf(op->operand(0));
  if (!copy)
    return false;
  rewriter.setOperand(op, 0, copy.input());
  return true;
}

// copy(f(x)) => f(x) where f may write the layout itself: nobody else reads its
// result, or all who do read any layout and the memory is the same.
static bool hoistCopy(Op *op, Rewriter &rewriter) {
  auto copy = llvm::dyn_cast<LayoutCopyOp>(op);
  if (!copy)
    return false;
  Value *value = copy.input();
  Op *producer = value->definingOp();
  auto readsAny = [](const Op &reader) {
    return anyLayout(reader) || reader.kind() == OpKind::Reduce ||
           reader.kind() == OpKind::LayoutCopy;
  };
  if (!producer || !readsAny(*producer))
    return false;
  // From row-major only: sinking and hoisting would undo each other.
  if (!value->type().layout.isRowMajor())
    return false;
  if (!value->hasOneUse() &&
      (value->isOutput() || !sameMemory(value->type(), copy.layout()) ||
       llvm::any_of(value->uses(),
                    [&](const Use &use) { return !readsAny(*use.op); })))
    return false;
  rewriter.setType(value, value->type().withLayout(copy.layout()));
  rewriter.replace(op, value);
  return true;
}

llvm::Expected<bool> runAssignLayouts(Module &module, PassContext &context) {
  if (!context.costs || !context.target)
    return false;
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    rewriter.greedily([&](Op *op, Rewriter &rewriter) {
      return chooseLayouts(op, rewriter, context) ||
             canonicalizeView(op, rewriter, context) ||
             readThroughCopy(op, rewriter) ||
             sinkCopies(op, rewriter, context) || hoistCopy(op, rewriter);
    });
    changed |= rewriter.changed();
  });
  return changed;
}

} // namespace dlc
