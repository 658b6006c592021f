// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-unused.td:[[# @LINE+1]]:5: error: the scalar expression does not use x1
def FooOp : BinaryOp<"foo"> { let summary = "s"; let scalar = "x0 + T(1)"; }
