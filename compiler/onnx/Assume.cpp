// SPDX-License-Identifier: Apache-2.0
// Sizes that an importer takes for granted.
#include "compiler/onnx/Assume.h"

void dlc::assume(NodeReader &node, const Dim &left, Relation relation,
                 const Dim &right, const llvm::Twine &what) {
  Module &module = node.context.module;
  llvm::StringRef sign = relation == Relation::Equal ? " == " : " <= ";
  assume(module.constraints, module.symbols, left, relation, right,
         node.location().str() + ": expected " + what + ", " + left.str() +
             sign.str() + right.str());
}
