// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: operands-list.td:[[# @LINE+1]]:5: error: operands must be an (ins ...) list
def FooOp : Op<"foo"> { let summary = "s"; let operands = (outs Tensor:$a); }
