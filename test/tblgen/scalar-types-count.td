// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-types-count.td:[[# @LINE+1]]:5: error: scalarTypes must be T(...) with 2 types, each bool or the name of a type parameter, found 'T(T)'
def FooOp : BinaryOp<"foo"> { let summary = "s"; let scalar = "x0 + x1"; let scalarTypes = "T(T)"; }
