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

// Do both layouts put the elements in the same places?
static bool sameMemory(const TensorType &type, const Layout &other) {
  if (!type.layout.isPermutation() || !other.isPermutation())
    return false;
  auto order = [&](const Layout &layout) {
    llvm::SmallVector<int64_t, 6> dims;
    for (int64_t d : layout.order(type.rank())) {
      if (layout.padding(d) != 1)
        return std::optional<llvm::SmallVector<int64_t, 6>>();
      if (!type.shape[size_t(d)].isConstant(1))
        dims.push_back(d);
    }
    return std::optional(dims);
  };
  auto a = order(type.layout), b = order(other);
  return a && b && *a == *b;
}

// copy(f(x)) => f(x) where f may write the layout itself: nobody else reads its
// result, or both layouts are the same memory.
static bool hoistCopy(Op *op, Rewriter &rewriter) {
  auto copy = llvm::dyn_cast<LayoutCopyOp>(op);
  if (!copy)
    return false;
  Value *value = copy.input();
  Op *producer = value->definingOp();
  if (!producer ||
      (!anyLayout(*producer) && producer->kind() != OpKind::Reduce))
    return false;
  bool alone = value->hasOneUse();
  if (!alone &&
      (value->isOutput() || !sameMemory(value->type(), copy.layout())))
    return false;
  // Sinking and hoisting would undo each other.
  if (!sameMemory(value->type(), copy.layout()) &&
      !value->type().layout.isRowMajor())
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
