// SPDX-License-Identifier: Apache-2.0
// Sizes that an importer takes for granted.
#include "compiler/onnx/Assume.h"

using namespace dlc;

void dlc::assume(NodeReader &node, const Dim &left, Relation relation,
                 const Dim &right, const llvm::Twine &what) {
  Module &module = node.context.module;
  llvm::StringRef sign = relation == Relation::Equal ? " == " : " <= ";
  assume(module.constraints, module.symbols, left, relation, right,
         node.location().str() + ": expected " + what + ", " + left.str() +
             sign.str() + right.str());
}

/// 0 for a size of 1, else 1.
static Dim isMany(NodeReader &node, const Dim &size) {
  Dim more = size - 1;
  if (!node.context.known.isAtLeast(size, 1))
    more = max(more, 1 - size);
  return min(more, 1);
}

void dlc::assumeRepeats(NodeReader &node, const Dim &size, const Dim &other,
                        int64_t dimension, bool either) {
  Module &module = node.context.module;
  Dim many = isMany(node, size);
  Dim right = either ? size + many * isMany(node, other) * (other - size)
                     : many * (other - 1) + 1;
  // The expression would tell nobody anything.
  assume(module.constraints, module.symbols, size, Relation::Equal, right,
         node.location().str() + ": expected a size of 1 or " + other.str() +
             " in dimension " + llvm::Twine(dimension));
}
