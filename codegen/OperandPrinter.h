// SPDX-License-Identifier: Apache-2.0
// Prints how a contraction reads an operand: rows, and elements along a row.
#pragma once

#include "codegen/BodyPrinter.h"

namespace dlc::codegen {

/// Prints `struct Row...` with the part of the index arithmetic that a row
/// needs once, and `address` or `value` of elements along it.
class OperandPrinter {
public:
  /// \param side "A" or "B".
  OperandPrinter(KernelBuilder &kernel, llvm::StringRef side)
      : kernel(kernel), side(side) {}

  /// Coordinates of the batch, the row and the element along it, as symbols.
  Dim batch(const Dim &extent);
  Dim row(const Dim &extent);
  Dim element(const Dim &extent);

  /// Where an element of the operand is.
  struct Place {
    Coordinates at;
    llvm::SmallVector<IndexRange, 4> ranges; ///< else zero
  };
  /// Elements at a time along the row, of 16, 8 or 4 bytes; 1 if they are not
  /// contiguous or something is computed.
  /// \param place the element's place, given the row and (element + lane).
  /// \param run how many elements stay contiguous: `element + lane` never
  /// crosses a multiple of it.
  using PlaceOf = std::function<Place(const Dim &element, const Dim &lane)>;
  int64_t vectorWidth(const Value *operand, const PlaceOf &place,
                      const Dim &run);
  /// Appends row state and functions to the kernel's functors.
  llvm::Error print(const Value *operand, const PlaceOf &place, int64_t vector,
                    DataType in, std::string &functors);

private:
  KernelBuilder &kernel;
  std::string side;
  Dim batchExtent = 1, rowExtent = 1, elementExtent = 1;
};

} // namespace dlc::codegen
