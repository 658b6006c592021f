// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-operand-absent.td:[[# @LINE+1]]:5: error: a pointwise op reads every operand, but 'more' may be absent
def FooOp : PointwiseOp<"foo"> { let summary = "s"; let operands = (ins Tensor:$input, OptionalTensor:$more); let scalar = "x0 + x1"; }
