// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: attribute-kind.td:[[# @LINE+1]]:5: error: attribute 0 must be written as AttrKind:$name
def FooOp : Op<"foo"> { let summary = "s"; let attributes = (attrs Tensor:$a); }
