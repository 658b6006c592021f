// SPDX-License-Identifier: Apache-2.0
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
include "OpBase.td"
// CHECK: scalar-libm.td:[[# @LINE+1]]:5: error: an op that calls libm needs the trait Transcendental
def FooOp : FloatUnaryOp<"foo"> { let summary = "s"; let scalar = "T(2) * libm::exp(x0)"; }
