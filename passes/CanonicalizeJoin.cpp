// SPDX-License-Identifier: Apache-2.0
// Concat: what is no join at all, and joins of joins.
#include "passes/Canonicalize.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

// concat(slice(x), slice(x), ...) that puts x together again => x
static bool rejoined(ConcatOp op, int64_t axis, Rewriter &rewriter) {
  Value *whole = nullptr;
  Dim offset = 0;
  for (Value *part : op.inputs()) {
    auto slice = llvm::dyn_cast_if_present<SliceOp>(part->definingOp());
    if (!slice || (whole && slice.input() != whole))
      return false;
    whole = slice.input();
    for (size_t i = 0; i < slice.starts().size(); ++i) {
      bool joined = int64_t(i) == axis;
      if (slice.steps()[i] != 1 || !(joined ? slice.starts()[i] == offset
                                            : slice.starts()[i].isConstant(0)))
        return false;
    }
    offset = offset + slice.sizes()[axis];
  }
  return whole && replaceIfSameType(op.op(), whole, rewriter);
}

bool canonicalizeJoin(Op *operation, Rewriter &rewriter, PassContext &context) {
  auto op = llvm::dyn_cast_if_present<ConcatOp>(operation);
  if (!op)
    return false;
  // concat(x) => x
  if (op.inputs().size() == 1)
    return replaceIfSameType(operation, op.inputs()[0], rewriter);
  int64_t axis = normalAxis(op.axis(), op.result()->type().rank());

  // Empty parts go; concat(concat(a, b), c) => concat(a, b, c)
  llvm::SmallVector<Value *, 8> parts;
  bool changed = false;
  for (Value *part : op.inputs()) {
    if (part->type().shape[axis].isConstant(0)) {
      changed = true;
      continue;
    }
    auto inner = llvm::dyn_cast_if_present<ConcatOp>(part->definingOp());
    if (inner && part->hasOneUse() &&
        normalAxis(inner.axis(), part->type().rank()) == axis) {
      llvm::append_range(parts, inner.inputs());
      changed = true;
      continue;
    }
    parts.push_back(part);
  }
  if (changed && !parts.empty()) {
    Value *with =
        rewriter.at(operation).create<ConcatOp>(parts, op.axis()).result();
    return replaceIfSameType(operation, with, rewriter);
  }
  return rejoined(op, axis, rewriter);
}

} // namespace dlc
