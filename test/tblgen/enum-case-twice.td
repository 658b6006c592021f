// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: enum-case-twice.td:[[# @LINE+1]]:5: error: the case 'slow' is listed twice
def Mode : Enum<["slow", "slow"]>;
