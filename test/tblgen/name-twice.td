// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: name-twice.td:[[# @LINE+1]]:5: error: the name 'axis' is used twice
def FooOp : Op<"foo"> { let summary = "s"; let operands = (ins Tensor:$axis); let attributes = (attrs I64:$axis); }
