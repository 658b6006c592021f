// SPDX-License-Identifier: Apache-2.0
// Sizes that tilings are chosen for where shapes are open.
#pragma once

#include "ir/Symbol.h"

namespace dlc::codegen {

/// A size to plan for where it is open: the middle of its range.
int64_t typicalSize(const Dim &d, const SymbolTable &symbols);

} // namespace dlc::codegen
