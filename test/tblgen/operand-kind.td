// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: operand-kind.td:[[# @LINE+1]]:5: error: operand 0 must be written as OperandKind:$name
def FooOp : Op<"foo"> { let summary = "s"; let operands = (ins I64:$a); }
