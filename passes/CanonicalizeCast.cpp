// SPDX-License-Identifier: Apache-2.0
// Casts and converts: what cancels. A cast is the user's and keeps its
// rounding; a convert is ours and may be left out (docs/ir.md).
#include "passes/Canonicalize.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"

namespace dlc {

static int significandBits(DataType type) {
  switch (type) {
  case DataType::F64:
    return 53;
  case DataType::F32:
    return 24;
  case DataType::F16:
    return 11;
  case DataType::BF16:
    return 8;
  case DataType::F8E4M3:
    return 4;
  case DataType::F8E5M2:
    return 3;
  default:
    return 0;
  }
}

// Does `to` hold every value of `from` exactly?
static bool holdsAll(DataType to, DataType from) {
  if (to == from)
    return true;
  if (to == DataType::Bool)
    return false;
  if (from == DataType::Bool)
    return true;
  if (isFloat(from))
    return isFloat(to) && significandBits(to) >= significandBits(from) &&
           largestFinite(to) >= largestFinite(from) &&
           smallestNormal(to) <= smallestNormal(from);
  int magnitude = int(bitWidth(from)) - (isSigned(from) ? 1 : 0);
  if (isFloat(to)) {
    // 4- and 8-bit floats have too little range to be asked about.
    if (bitWidth(to) < 16)
      return false;
    return magnitude <= significandBits(to);
  }
  if (isSigned(from) && !isSigned(to))
    return false;
  return int(bitWidth(to)) - (isSigned(to) ? 1 : 0) >= magnitude;
}

static bool isCastLike(Op *op) {
  return op && (op->kind() == OpKind::Cast || op->kind() == OpKind::Convert);
}

bool canonicalizeCast(Op *op, Rewriter &rewriter, PassContext &context) {
  Value *input = op->operand(0);
  DataType to = op->result()->type().element;
  // cast<T>(x: T) => x
  if (input->type().element == to)
    return replaceIfSameType(op, input, rewriter);
  Op *inner = input->definingOp();
  if (!isCastLike(inner))
    return false;
  Value *x = inner->operand(0);
  DataType from = x->type().element, middle = input->type().element;

  // cast<C>(cast<B>(x: A)) => cast<C>(x) where B holds every A: what follows
  // sees the same value. The result is the user's cast unless both were ours.
  bool exact = holdsAll(middle, from);
  bool ours = op->kind() == OpKind::Convert && inner->kind() == OpKind::Convert;
  // Rounding that is ours may be left out, unless the rounded value is stored
  // anyway, for others, for several or because a contraction or window begins a
  // kernel: then reading it moves fewer bytes.
  bool elided = ours && input->hasOneUse() &&
                op->result()->uses().size() <= 1 && !isReadByHero(op->result());
  if (!exact && !elided) {
    if (op->kind() == OpKind::Cast || inner->kind() == OpKind::Cast)
      context.decline(*op, "the cast before it rounds, which the model asks "
                           "for");
    else
      context.decline(*op, "the value in between is stored anyway");
    return false;
  }
  if (from == to)
    return replaceIfSameType(op, x, rewriter);
  Builder &builder = rewriter.at(op);
  bool floats = isFloat(from) && isFloat(to);
  Value *with = ours && floats ? builder.create<ConvertOp>(x, to).result()
                               : builder.create<CastOp>(x, to).result();
  return replaceIfSameType(op, with, rewriter);
}

} // namespace dlc
