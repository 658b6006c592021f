// SPDX-License-Identifier: Apache-2.0
// What one emitter call works on: a fusion, or a single op seen as one.
#pragma once

#include "ir/FusionBody.h"

namespace dlc::codegen {

/// A body with inputs and outputs. Scalar constants among the operands are
/// part of the body, so that they are printed as literals.
class Unit {
public:
  /// `op` is a fusion or an op without regions; it must outlive the unit.
  explicit Unit(const Op &op);
  Unit(Unit &&) = default;
  ~Unit();

  const Op &op() const { return *original; }
  const Graph &body() const { return *bodyGraph; }
  /// Values outside that feed body().input(i).
  llvm::ArrayRef<Value *> inputs() const { return outerInputs; }
  /// body().outputs()[i] is the original op's result(i).
  unsigned numResults() const { return original->numResults(); }
  const TensorType &resultType(unsigned i) const {
    return original->result(i)->type();
  }
  /// Bytes of the widest element that streams through: of results and inputs,
  /// but not of constants, which are few and read again and again.
  int64_t streamedBytes() const;
  /// Elements at a time, along `extent` neighbours in memory: of at most 16
  /// streamed bytes, a power of 2 that divides the extent.
  int64_t vectorWidth(const Dim &extent, const SymbolTable &symbols) const;
  /// The ops of the body that are not computed element by element, in order.
  llvm::ArrayRef<Op *> heroes() const { return bodyParts.heroes; }
  /// What comes before each hero's operands, and what comes after.
  const FusionParts &parts() const { return bodyParts; }
  /// The only op of the body other than constants; null if there are several.
  const Op *soleOp() const { return sole; }
  /// Has it no heroes: all ops are pointwise, views, gathers or sources?
  bool isLoop() const;
  /// Has no result an element? Then nothing is launched.
  bool isEmpty() const;

private:
  const Op *original;
  std::unique_ptr<Graph> bodyGraph;
  llvm::SmallVector<Value *, 4> outerInputs;
  FusionParts bodyParts;
  const Op *sole = nullptr;
};

} // namespace dlc::codegen
