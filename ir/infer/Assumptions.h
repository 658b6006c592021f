// SPDX-License-Identifier: Apache-2.0
// What the result types of ops take for granted.
#pragma once

#include "ir/Ops.h"

namespace dlc {

/// Records, as constraints of the module, each equality and bound of symbolic
/// sizes that an op of the module relies on and that cannot be proved: type
/// inference lets them pass. Called for a model that has just been read, while
/// each op stands for itself; doing it twice changes nothing. An error is one
/// that no shapes of the inputs can satisfy.
llvm::Error recordAssumptions(Module &module);

} // namespace dlc
