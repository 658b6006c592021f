// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: variadic-results.td:[[# @LINE+1]]:5: error: variadic results cannot be mixed with others
def FooOp : Op<"foo"> { let summary = "s"; let results = (outs Tensor:$a, Tensors:$b); }
