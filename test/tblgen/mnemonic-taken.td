// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-ops -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
def FirstOp : Op<"twice"> { let summary = "one"; }
// CHECK: mnemonic-taken.td:[[# @LINE+1]]:5: error: the mnemonic 'twice' is taken by 'FirstOp'
def SecondOp : Op<"twice"> { let summary = "two"; }
