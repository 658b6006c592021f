// SPDX-License-Identifier: Apache-2.0
// What positions in memory are computed from.
#include "passes/Coordinates.h"
#include "passes/SensitiveFilters.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace dlc {

static bool isF32(const Value *value) {
  return value && value->type().element == DataType::F32;
}

static bool isIndex(const Value *value) {
  DataType element = value->type().element;
  return element == DataType::I64 || element == DataType::I32;
}

// Is each element of the result one of the operands', or computed from few?
static bool passesPositions(const Op &op) {
  return op.hasTrait(OpTrait::Pointwise) || op.hasTrait(OpTrait::View) ||
         op.kind() == OpKind::Gather || op.kind() == OpKind::GatherElements ||
         op.kind() == OpKind::GatherNd || op.kind() == OpKind::Reduce;
}

static bool isContraction(const Op &op) {
  return op.kind() == OpKind::MatMul || op.kind() == OpKind::Conv;
}

// Does it cost nothing in f32? Matrices that move and turn, whose products with
// homogeneous coordinates are positions as their operands are, and what
// computes a few numbers of a sample.
static bool isSmall(const Op &op) {
  constexpr int64_t kDepth = 8;
  // 1 MB of weights: read in less time than a kernel takes to begin.
  constexpr int64_t kFilterElements = 1 << 18;
  const Value *weights = op.operand(1);
  if (auto matmul = llvm::dyn_cast<MatMulOp>(&op)) {
    const TensorType &lhs = matmul.lhs()->type();
    const Dim &depth = lhs.dim(lhs.rank() - (matmul.transposeLhs() ? 2 : 1));
    if (depth.tryConstant().value_or(kDepth + 1) <= kDepth)
      return true;
  }
  if (!isConstantValue(weights))
    return false;
  return isVector(op.result()->type()) &&
         weights->type().elementCount().constant() <= kFilterElements;
}

Coordinates findCoordinates(Graph &graph) {
  Coordinates found;
  llvm::SmallVector<const Op *, 0> ops;
  for (const Op &op : graph)
    ops.push_back(&op);
  auto isPosition = [&](const Use &use) {
    return found.ops.contains(use.op) ||
           (use.op->kind() == OpKind::NonMaxSuppression && use.index == 0);
  };
  for (const Op *op : llvm::reverse(ops)) {
    if (op->numResults() != 1)
      continue;
    if (op->kind() == OpKind::Cast && isIndex(op->result()) &&
        isF32(op->operand(0))) {
      found.ops.insert(op);
      continue;
    }
    auto uses = op->result()->uses();
    if (!isF32(op->result()) || !llvm::any_of(uses, isPosition) ||
        !llvm::all_of(uses, [&](const Use &use) {
          return isPosition(use) || passesPositions(*use.op);
        }))
      continue;
    if (passesPositions(*op) || (isContraction(*op) && isSmall(*op)))
      found.ops.insert(op);
    else if (isContraction(*op))
      found.sources.insert(op);
  }
  return found;
}

} // namespace dlc
