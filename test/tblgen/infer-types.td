// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: infer-types.td:[[# @LINE+1]]:5: error: inferTypes must be the name of a function, found 'a + b'
def FooOp : Op<"foo"> { let summary = "s"; let inferTypes = "a + b"; }
