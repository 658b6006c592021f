// SPDX-License-Identifier: Apache-2.0
// Prints `struct Problem` of contraction.cuh and contraction_tma.cuh.
#pragma once

#include "codegen/EpiloguePrinter.h"
#include "codegen/SplitWeights.h"
#include "codegen/emitters/ContractionMaps.h"

namespace dlc::codegen {

class ContractionPrinter {
public:
  ContractionPrinter(KernelBuilder &kernel, const Op &hero);
  /// For contraction.cuh: how threads copy both operands.
  llvm::Error print();
  /// For contraction_tma.cuh: both operands are tensor maps.
  llvm::Error print(const MappedOperands &maps);

  const Op &hero;
  ContractionView view;
  DataType in, acc; ///< of both operands, and of the sums
  /// The weights where they are two numbers of 16 bits each: then k runs over
  /// both parts.
  std::optional<SplitWeights> split;

  // Set by print().
  int64_t vectorA = 1, vectorB = 1, vectorC = 1; ///< elements of one access
  bool transposedB = false;                      ///< vectors of B lie along n

private:
  void printSizes();
  void printMap(llvm::StringRef side, const TensorMapRef &map);
  void printWindow(llvm::ArrayRef<Dim> window);
  llvm::Error printA();
  llvm::Error printB();
  void printParts();
  /// Is B read from weights: before the kernels before have ended?
  bool isConstantB(const OperandPrinter::PlaceOf &place) const;
  void printCopiesOfB(bool constant);
  llvm::Error printApply();
  llvm::Error printPrepare();
  /// The epilogue, whose vector width it sets.
  EpiloguePrinter epilogue();

  KernelBuilder &kernel;
};

} // namespace dlc::codegen
