// SPDX-License-Identifier: Apache-2.0
// The list of emitters and the choice among them.
#include "codegen/emitters/Emitters.h"

using namespace dlc;
using namespace dlc::codegen;

llvm::ArrayRef<const Emitter *> codegen::emitters() {
#define DLC_EMITTER(Name, text) static const Name##Emitter the##Name;
#include "codegen/Emitters.def"
#undef DLC_EMITTER
  static const Emitter *const all[] = {
#define DLC_EMITTER(Name, text) &the##Name,
#include "codegen/Emitters.def"
#undef DLC_EMITTER
  };
  return all;
}

llvm::Error codegen::refuse(const llvm::Twine &sentence) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), sentence);
}

llvm::Expected<Emitted> codegen::emit(const Unit &unit,
                                      const EmitContext &context) {
  std::string reasons;
  for (const Emitter *emitter : emitters()) {
    llvm::Expected<Emission> emission = emitter->emit(unit, context);
    if (emission)
      return Emitted{emitter, std::move(*emission)};
    std::string sentence = llvm::toString(emission.takeError());
    if (!sentence.empty())
      reasons += (reasons.empty() ? "" : "; ") + emitter->name().str() + ": " +
                 sentence;
  }
  return refuse(reasons.empty()
                    ? "no kernel is made for " + unit.op().mnemonic().str()
                    : reasons);
}

Estimate codegen::estimate(const Unit &unit, const Emission &emission,
                           const EmitContext &context) {
  Estimate e;
  auto bytes = [&](const TensorType &type) {
    // Where a size is open: a typical one.
    return upperBound(type.storageBytes(), context.symbols)
        .value_or(int64_t(1) << 20);
  };
  for (Value *v : unit.inputs())
    e.bytes += v ? bytes(v->type()) : 0;
  for (unsigned i = 0; i < unit.numResults(); i++)
    e.bytes += bytes(unit.resultType(i));
  e.flops = emission.flops;
  // A launch behind another one costs 1.5 us beyond its traffic, each.
  e.microseconds = emission.microseconds
                       ? emission.microseconds
                       : 1.5 * double(emission.steps.size()) +
                             double(e.bytes) / context.target.bandwidth * 1e6;
  return e;
}
