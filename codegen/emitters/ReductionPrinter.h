// SPDX-License-Identifier: Apache-2.0
// Prints the functors of codegen/device/reduction.cuh.
#pragma once

#include "codegen/emitters/ReductionView.h"

namespace dlc::codegen {

class ReductionPrinter {
public:
  /// \param vector elements of a row that are read together.
  ReductionPrinter(KernelBuilder &kernel, const ReductionView &view,
                   int64_t vector)
      : kernel(kernel), view(view), vector(vector) {}
  /// struct Scalars, struct Pass of each pass, struct Body.
  llvm::Error print();

private:
  llvm::Error printScalars();
  llvm::Error printPass(unsigned pass);
  llvm::Error printBody();
  /// The statements that store what is had per row, or per element.
  llvm::Expected<std::string> stores(bool perRow);

  /// Coordinates of the element that add() and store_elements() begin at.
  Coordinates element(BodyPrinter &printer) const;
  /// Where `element` is, results of the passes before `pass` are in `s`.
  void provideResults(BodyPrinter &printer, const Coordinates &element,
                      unsigned pass) const;

  KernelBuilder &kernel;
  const ReductionView &view;
  int64_t vector;
};

} // namespace dlc::codegen
