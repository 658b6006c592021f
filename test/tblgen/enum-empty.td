// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: enum-empty.td:[[# @LINE+1]]:5: error: an enumeration needs a case
def Mode : Enum<[]>;
