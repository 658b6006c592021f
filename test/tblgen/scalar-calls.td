// SPDX-License-Identifier: Apache-2.0
// A function of another op stands above its first call; none calls itself.
// RUN: %not dlc-tblgen -gen-scalar -I %source/ir %s 2>&1 | %FileCheck %s
// RUN: %not dlc-tblgen -gen-scalar -DSELF -I %source/ir %s 2>&1 | %FileCheck %s --check-prefix=SELF
// RUN: %not dlc-tblgen -gen-scalar -DEXP -I %source/ir %s 2>&1 | %FileCheck %s --check-prefix=EXP
include "OpBase.td"
#ifdef SELF
// SELF: scalar-calls.td:[[# @LINE+1]]:5: error: the scalar expression calls 'twice', which is not above it
def TwiceOp : UnaryOp<"twice"> { let summary = "s"; let scalar = "twice(x0)"; }
#endif
#ifdef EXP
def ExponentialOp : TranscendentalOp<"exponential"> { let summary = "s"; let scalar = "libm::exp(x0)"; }
// EXP: scalar-calls.td:[[# @LINE+1]]:5: error: an op that calls 'exponential' needs the trait Transcendental
def MoreOp : FloatUnaryOp<"more"> { let summary = "s"; let scalar = "exponential(x0) + T(1)"; }
#endif
// CHECK: scalar-calls.td:[[# @LINE+1]]:5: error: the scalar expression calls 'and_', which is not above it
def FooOp : BinaryOp<"foo"> { let summary = "s"; let scalar = "and_(x0, x1)"; }
def AndOp : BinaryOp<"and"> { let summary = "s"; let scalar = "x0 & x1"; }
