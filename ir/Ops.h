// SPDX-License-Identifier: Apache-2.0
// The generated op classes: ir/*.td as C++.
//
// For `def ReduceOp : Op<"reduce"> { operands (ins Tensor:$input), attributes
// (attrs ReduceKind:$kind, ...) }` dlc-tblgen writes
//
//   class ReduceOp : public OpView {
//     static constexpr OpKind opKind = OpKind::Reduce;      // record name less
//     "Op" Value *input() const;                                 // null if
//     absent and optional ReduceKind kind() const; // attribute, default
//     applied static Op *make(Location, Value *input, ReduceKind kind,
//                     llvm::ArrayRef<int64_t> axes, bool keepDims = true);
//   };                                                      // detached, types
//   not inferred
//
// Variadic operands: llvm::ArrayRef<Value *>. Optional attributes:
// std::optional<T>. Lists are taken as llvm::ArrayRef, returned as const
// std::vector<T> &. Regions: Graph &body(). List-typed result: result(i).
#pragma once

#include "ir/Graph.h"

namespace dlc {
#define DLC_OP_ENUMS
#include "ir/Ops.inc"
#define DLC_OP_CLASSES
#include "ir/Ops.inc"

/// What the record gives attribute `index` when it is left out; empty if it has
/// no default.
Attribute defaultAttribute(OpKind kind, unsigned index);
/// Element type of a pointwise op's result, from those of its operands. The
/// casts have a rule of their own.
DataType scalarResultType(const Op &op);
/// Result types of `op` from its operands, attributes and regions by its
/// record's rule; an error says what was found and what was expected.
llvm::Expected<llvm::SmallVector<TensorType, 1>> inferTypes(const Op &op);
/// Operands, attributes and constraints, as the record has them. What
/// inferTypes takes for granted.
llvm::Error verifyRules(const Op &op);
/// All rules of the record, the result types and, for regions and fusions, the
/// grammar. Success, or the sentence of the first rule that is refuted.
llvm::Error verifyOp(const Op &op);
/// Structure, types and each op of the module. Run after every pass. Messages
/// begin with the op's location, those of the functions above do not.
llvm::Error verify(const Module &module);
} // namespace dlc
