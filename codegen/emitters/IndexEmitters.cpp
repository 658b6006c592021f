// SPDX-License-Identifier: Apache-2.0
// The instances of the emitters of IndexEmitters.h.
#include "codegen/emitters/IndexEmitters.h"

namespace dlc::codegen {
#define DLC_INDEX_EMITTER(Name)                                                \
  const Emitter &make##Name##Emitter() {                                       \
    static const Name##Emitter emitter;                                        \
    return emitter;                                                            \
  }
DLC_INDEX_EMITTER(ArgReduce)
DLC_INDEX_EMITTER(Cumulative)
DLC_INDEX_EMITTER(TopK)
DLC_INDEX_EMITTER(GatherElements)
DLC_INDEX_EMITTER(GatherNd)
DLC_INDEX_EMITTER(ScatterElements)
DLC_INDEX_EMITTER(ScatterNd)
DLC_INDEX_EMITTER(Resize)
DLC_INDEX_EMITTER(NonMaxSuppression)
DLC_INDEX_EMITTER(NonZero)
DLC_INDEX_EMITTER(Lstm)
#undef DLC_INDEX_EMITTER
} // namespace dlc::codegen
