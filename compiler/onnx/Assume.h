// SPDX-License-Identifier: Apache-2.0
// Sizes that an importer takes for granted.
#pragma once

#include "compiler/onnx/NodeReader.h"

namespace dlc {

/// Records `left relation right` of symbolic sizes as a constraint of the
/// module, where no op that the importer emits shows it. `what` says what is
/// expected: "parts that add up to dimension 1".
void assume(NodeReader &node, const Dim &left, Relation relation,
            const Dim &right, const llvm::Twine &what);

} // namespace dlc
