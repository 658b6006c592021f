// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: transcendental.td:[[# @LINE+1]]:5: error: Transcendental is for pointwise ops
def FooOp : Op<"foo", [Transcendental]> { let summary = "s"; }
