// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-name.td:[[# @LINE+1]]:5: error: the scalar expression uses 'y', which is no operand (x0, x1, ...), type or function
def FooOp : UnaryOp<"foo"> { let summary = "s"; let scalar = "x0 < y ? T(1) : T(0)"; }
