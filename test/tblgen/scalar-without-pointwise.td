// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-without-pointwise.td:[[# @LINE+1]]:5: error: a pointwise op, and no other, has scalar semantics
def FooOp : Op<"foo"> { let summary = "s"; let scalar = "neg"; }
