// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-expression.td:[[# @LINE+1]]:5: error: scalar must be the name of a function of ir/scalar, found 'x0 + x1'
def FooOp : BinaryOp<"foo"> { let summary = "s"; let scalar = "x0 + x1"; }
