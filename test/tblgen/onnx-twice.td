// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
def FooOp : Op<"foo"> { let summary = "s"; let onnx = "Foo"; }
// CHECK: onnx-twice.td:[[# @LINE+1]]:5: error: ONNX 'Foo' is imported by 'FooOp' already
def BarOp : Op<"bar"> { let summary = "s"; let onnx = "Foo"; }
