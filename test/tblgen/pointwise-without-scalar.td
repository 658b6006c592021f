// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: pointwise-without-scalar.td:[[# @LINE+1]]:5: error: a pointwise op needs the expression of its result: scalar
def FooOp : UnaryOp<"foo"> { let summary = "s"; let scalar = " "; }
