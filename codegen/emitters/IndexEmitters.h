// SPDX-License-Identifier: Apache-2.0
// Emitters of ops that stand alone: their data movement depends on data, or
// their order of steps cannot be part of a loop. Each takes exactly its op.
#pragma once

#include "codegen/Emitter.h"

namespace dlc::codegen {

#define DLC_INDEX_EMITTER(Name, text)                                          \
  class Name##Emitter : public Emitter {                                       \
  public:                                                                      \
    llvm::StringRef name() const override { return text; }                     \
    llvm::Expected<Emission> emit(const Unit &unit,                            \
                                  const EmitContext &context) const override;  \
  };                                                                           \
  const Emitter &make##Name##Emitter();

DLC_INDEX_EMITTER(ArgReduce, "arg_reduce")
DLC_INDEX_EMITTER(Cumulative, "cumulative")
DLC_INDEX_EMITTER(TopK, "topk")
DLC_INDEX_EMITTER(GatherElements, "gather_elements")
DLC_INDEX_EMITTER(GatherNd, "gather_nd")
DLC_INDEX_EMITTER(ScatterElements, "scatter_elements")
DLC_INDEX_EMITTER(ScatterNd, "scatter_nd")
DLC_INDEX_EMITTER(Resize, "resize")
DLC_INDEX_EMITTER(NonMaxSuppression, "nms")
DLC_INDEX_EMITTER(NonZero, "nonzero")
DLC_INDEX_EMITTER(Lstm, "lstm")

#undef DLC_INDEX_EMITTER
} // namespace dlc::codegen
