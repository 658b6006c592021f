// SPDX-License-Identifier: Apache-2.0
// Prices of fusions by what the emitters make of them.
#pragma once

#include "ir/CostModel.h"

namespace dlc::codegen {

class CostModel : public dlc::CostModel {
public:
  /// \param symbols of the module whose fusions are priced; must outlive this.
  explicit CostModel(const SymbolTable &symbols) : symbols(symbols) {}
  llvm::Expected<Estimate> price(const FusionOp &fusion,
                                 const Target &target) const override;
  /// Channels last for convolutions and pooling: their chunks along the
  /// channels are contiguous then. Filters as their kernels read them.
  Layout preferredLayout(const Op &op, int operand,
                         const Target &target) const override;

  bool readsImages(const Op &conv, const Target &target) const override;

private:
  const SymbolTable &symbols;
};

} // namespace dlc::codegen
