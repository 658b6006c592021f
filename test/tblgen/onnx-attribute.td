// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: onnx-attribute.td:[[# @LINE+1]]:5: error: an op imported one to one cannot have the attribute 'axis' without a default
def FooOp : Op<"foo"> { let summary = "s"; let onnx = "Foo"; let attributes = (attrs I64:$axis); }
