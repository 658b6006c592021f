// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: no-summary.td:[[# @LINE+1]]:5: error: 'foo' has no summary
def FooOp : Op<"foo">;
