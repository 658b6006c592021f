// SPDX-License-Identifier: Apache-2.0
// A new pointwise op takes a record and nothing else: its function, compiled by
// the host's compiler with those of all other ops, gives the right values, and
// the tables know it.
// RUN: rm -rf %t && mkdir -p %t/ir/scalar
// RUN: dlc-tblgen -gen-scalar -I %source/ir %s -o %t/ir/scalar/Scalar.h
// RUN: %FileCheck %s --check-prefix=HEADER --input-file %t/ir/scalar/Scalar.h
// RUN: dlc-tblgen -gen-ops -I %source/ir %s | %FileCheck %s --check-prefix=TABLES
// RUN: dlc-tblgen -gen-docs -I %source/ir %s | %FileCheck %s --check-prefix=DOCS
// RUN: %cxx -std=c++20 -Wall -Wextra -Werror -I %t -I %source %S/Inputs/pointwise-op.cpp -o %t/values
// RUN: %t/values | %FileCheck %s --check-prefix=VALUES
include "Ops.td"

// HEADER: #include "ir/scalar/Functions.h"
// HEADER: /// x0 / (1 + |x0|), which goes to -1 and 1 more slowly than the hyperbolic
// HEADER-NEXT: /// tangent
// HEADER-NEXT: template <class T> DLC_SCALAR T soft_ratio(T x0) {
// HEADER-NEXT:   return x0 / (T(1) + abs(x0));
// HEADER-NEXT: }
// TABLES-DAG: DLC_OP_KIND(SoftRatio)
// TABLES-DAG: DLC_SCALAR_OP(SoftRatio, soft_ratio, isFloat(t), T)
// TABLES-DAG: DLC_ONNX_OP("SoftRatio", SoftRatio)
// TABLES-DAG: class SoftRatioOp : public OpView
// TABLES-DAG: {OpKind::SoftRatio, "soft_ratio", "SoftRatioOp",
// TABLES-DAG: "SoftRatio", "soft_ratio"}
// DOCS: ### soft_ratio
// DOCS: Scalar: `x0 / (T(1) + abs(x0))`
// VALUES: soft_ratio -0.75 0.5 0.9375
def SoftRatioOp : FloatUnaryOp<"soft_ratio"> {
  let summary = "x0 / (1 + |x0|), which goes to -1 and 1 more slowly than the hyperbolic tangent";
  let scalar = "x0 / (T(1) + abs(x0))";
  let onnx = "SoftRatio";
}

// Operands of two types, a result of another, and a word of C++ for a name.
// HEADER: template <class T> DLC_SCALAR T limit_if(bool x0, T x1, T x2, T x3) {
// HEADER-NEXT:   return x0 ? min(max(x1, x2), x3) : x1;
// TABLES-DAG: case OpKind::LimitIf: return op.operand(1)->type().element;
// TABLES-DAG: return violated(operation, "value and low must have one element type"
// TABLES-DAG: return violated(operation, "low and high must have one element type"
// TABLES-DAG: DLC_SCALAR_OP(LimitIf, limit_if, true, bool, T, T, T)
// VALUES: limit_if 5 9
def LimitIfOp : PointwiseOp<"limit_if"> {
  let summary = "within bounds where the condition holds";
  let operands = (ins BoolTensor:$condition, Tensor:$value, Tensor:$low, Tensor:$high);
  let scalar = "x0 ? min(max(x1, x2), x3) : x1";
  let scalarTypes = "T(bool, T, T, T)";
}
// HEADER: template <class T> DLC_SCALAR bool switch_(T x0, T x1) {
// VALUES: switch_ 1 0
def SwitchOp : CompareOp<"switch"> {
  let summary = "do the signs of x0 and x1 differ";
  let scalar = "is_negative(x0) != is_negative(x1)";
}
