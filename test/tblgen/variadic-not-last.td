// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: variadic-not-last.td:[[# @LINE+1]]:5: error: only the last operand may be variadic
def FooOp : Op<"foo"> { let summary = "s"; let operands = (ins Tensors:$many, Tensor:$one); }
