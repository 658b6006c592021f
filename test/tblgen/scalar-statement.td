// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-statement.td:[[# @LINE+1]]:5: error: scalar must be one C++ expression, found ';' in it
def FooOp : UnaryOp<"foo"> { let summary = "s"; let scalar = "x0; return x0"; }
