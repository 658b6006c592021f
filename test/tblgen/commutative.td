// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: commutative.td:[[# @LINE+1]]:5: error: a commutative op has two operands, found 1
def FooOp : Op<"foo", [Commutative]> { let summary = "s"; let operands = (ins Tensor:$a); }
