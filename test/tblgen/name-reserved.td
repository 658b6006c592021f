// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: name-reserved.td:[[# @LINE+1]]:5: error: attribute 'default' has a reserved name
def FooOp : Op<"foo"> { let summary = "s"; let attributes = (attrs I64:$default); }
