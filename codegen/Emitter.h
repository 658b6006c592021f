// SPDX-License-Identifier: Apache-2.0
// The interface of a kernel emitter, and the list of all.
#pragma once

#include "codegen/Emission.h"
#include "codegen/Unit.h"
#include "ir/CostModel.h"

namespace dlc::codegen {

/// What an emitter may know besides the unit.
struct EmitContext {
  const Target &target;
  const SymbolTable &symbols;
};

/// Turns a unit into kernels by printing functors over a device template. A
/// pure function of unit, target and symbols; it needs no GPU. See
/// docs/adding-a-kernel.md.
class Emitter {
public:
  virtual ~Emitter() = default;
  virtual llvm::StringRef name() const = 0;
  /// The kernels, or the sentence why this emitter has none for the unit.
  virtual llvm::Expected<Emission> emit(const Unit &unit,
                                        const EmitContext &context) const = 0;
};

/// All emitters in order of priority (Emitters.def).
llvm::ArrayRef<const Emitter *> emitters();

/// The first emitter that takes the unit, and what it made; or the sentences of
/// all that could have.
struct Emitted {
  const Emitter *emitter;
  Emission emission;
};
llvm::Expected<Emitted> emit(const Unit &unit, const EmitContext &context);

/// Time, work and traffic of what an emitter made.
Estimate estimate(const Unit &unit, const Emission &emission,
                  const EmitContext &context);

/// An emitter's refusal.
llvm::Error refuse(const llvm::Twine &sentence);

} // namespace dlc::codegen
