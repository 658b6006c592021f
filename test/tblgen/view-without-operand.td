// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: view-without-operand.td:[[# @LINE+1]]:5: error: a view needs an operand
def FooOp : Op<"foo", [View]> { let summary = "s"; }
