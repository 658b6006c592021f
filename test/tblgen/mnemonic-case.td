// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: mnemonic-case.td:[[# @LINE+1]]:5: error: the mnemonic must be lower_case, found 'MatMul'
def FooOp : Op<"MatMul"> { let summary = "s"; }
