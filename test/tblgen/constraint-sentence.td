// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: constraint-sentence.td:[[# @LINE+1]]:5: error: a constraint needs a sentence without a full stop, found 'no.'
def FooOp : Op<"foo"> { let summary = "s"; let constraints = [Constraint<"true", "no.">]; }
