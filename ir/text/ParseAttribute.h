// SPDX-License-Identifier: Apache-2.0
// Attributes from text.
#pragma once

#include "ir/Ops.h"
#include "ir/text/Cursor.h"

namespace dlc {

/// ('{' name '=' value,* '}')?, each by its kind in the record. What is left
/// out stays empty.
bool parseAttributes(Cursor &in, const OpInfo &info,
                     llvm::ArrayRef<Value *> operands,
                     llvm::MutableArrayRef<Attribute> attributes);

} // namespace dlc
