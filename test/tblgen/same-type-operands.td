// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: same-type-operands.td:[[# @LINE+1]]:5: error: SameTypeOperands needs two operands or more, found 1
def FooOp : Op<"foo", [SameTypeOperands]> { let summary = "s"; let operands = (ins Tensor:$a); }
