// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-result.td:[[# @LINE+1]]:5: error: scalarResult is for pointwise ops
def FooOp : Op<"foo"> { let summary = "s"; let scalarResult = "DataType::Bool"; }
