// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-operand.td:[[# @LINE+1]]:5: error: the scalar expression uses x2, but the op has 2 operands: x0 to x1
def FooOp : BinaryOp<"foo"> { let summary = "s"; let scalar = "x0 + x1 * x2"; }
