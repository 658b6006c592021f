// SPDX-License-Identifier: Apache-2.0
// The classes of all emitters (Emitters.def).
#pragma once

#include "codegen/Emitter.h"

namespace dlc::codegen {

#define DLC_EMITTER(Name, text)                                                \
  class Name##Emitter : public Emitter {                                       \
  public:                                                                      \
    llvm::StringRef name() const override { return text; }                     \
    llvm::Expected<Emission> emit(const Unit &unit,                            \
                                  const EmitContext &context) const override;  \
  };
#include "codegen/Emitters.def"
#undef DLC_EMITTER

} // namespace dlc::codegen
