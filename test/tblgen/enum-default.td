// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
def Mode : Enum<["slow", "slower"]>;
// CHECK: enum-default.td:[[# @LINE+1]]:5: error: the default of 'mode' is no case of Mode, found 'Mode::Fast'
def FooOp : Op<"foo"> { let summary = "s"; let attributes = (attrs Default<Mode, "Mode::Fast">:$mode); }
