// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-without-pointwise.td:[[# @LINE+1]]:5: error: scalar semantics are for pointwise ops
def FooOp : Op<"foo"> { let summary = "s"; let scalar = "-x0"; }
