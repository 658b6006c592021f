// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: record-name.td:[[# @LINE+1]]:5: error: the record of an op must be named <Name>Op, found 'Foo'
def Foo : Op<"foo"> { let summary = "s"; }
