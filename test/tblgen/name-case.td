// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: name-case.td:[[# @LINE+1]]:5: error: operand 'Lhs' must be a lowerCamelCase name
def FooOp : Op<"foo"> { let summary = "s"; let operands = (ins Tensor:$Lhs); }
