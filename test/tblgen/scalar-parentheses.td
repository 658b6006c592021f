// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-parentheses.td:[[# @LINE+1]]:5: error: the parentheses of the scalar expression do not match: 'exp((x0)'
def FooOp : UnaryOp<"foo"> { let summary = "s"; let scalar = "exp((x0)"; }
