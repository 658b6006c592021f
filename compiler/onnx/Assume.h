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

/// Records that `size` is 1 or `other`; with `either`, that one of them is 1 or
/// they are the same.
void assumeRepeats(NodeReader &node, const Dim &size, const Dim &other,
                   int64_t dimension, bool either = false);

} // namespace dlc
