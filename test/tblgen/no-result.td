// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: no-result.td:[[# @LINE+1]]:5: error: an op has at least one result
def FooOp : Op<"foo"> { let summary = "s"; let results = (outs); }
