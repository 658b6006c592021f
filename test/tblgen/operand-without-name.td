// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: operand-without-name.td:[[# @LINE+1]]:5: error: operand 1 has no name
def FooOp : Op<"foo"> { let summary = "s"; let operands = (ins Tensor:$a, Tensor); }
