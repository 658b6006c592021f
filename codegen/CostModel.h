// SPDX-License-Identifier: Apache-2.0
// Prices of fusions, from what the emitters would make of them.
#pragma once

#include "ir/CostModel.h"

namespace dlc::codegen {

class CostModel : public dlc::CostModel {
public:
  /// \param symbols of the module that is optimised; looked at in each call.
  explicit CostModel(const SymbolTable &symbols) : symbols(symbols) {}

  /// An error holds the sentences of the emitters that could have taken it.
  llvm::Expected<Estimate> price(const FusionOp &fusion,
                                 const Target &target) const override;
  /// Convolutions and windows over spatial dimensions want channels last on
  /// every target: a filter tap's channels are then contiguous, which is what
  /// 16-byte copies, tensor cores and vectors of the host are fed with.
  Layout preferredLayout(const Op &op, int operand,
                         const Target &target) const override;

private:
  const SymbolTable &symbols;
};

} // namespace dlc::codegen
