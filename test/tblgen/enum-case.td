// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: enum-case.td:[[# @LINE+1]]:5: error: a case must be lower_case, found 'Slow'
def Mode : Enum<["Slow"]>;
