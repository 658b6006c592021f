// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: pointwise-without-scalar.td:[[# @LINE+1]]:5: error: a pointwise op, and no other, has scalar semantics
def FooOp : UnaryOp<"foo"> { let summary = "s"; }
