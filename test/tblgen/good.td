// SPDX-License-Identifier: Apache-2.0
// What is generated, in full: a change to dlc-tblgen shows here.
// RUN: dlc-tblgen -gen-ops -I %source/ir %s | diff %S/Expected/good.inc -
// RUN: dlc-tblgen -gen-scalar -I %source/ir %s | diff %S/Expected/good.h -
// RUN: dlc-tblgen -gen-docs -I %source/ir %s | diff %S/Expected/good.md -
include "OpBase.td"

def Speed : Enum<["slow", "very_fast"]>;
def PlusOp : BinaryOp<"plus", [Commutative]> {
  let summary = "x0 + x1";
  let scalar = "sum(x0, x1)";
  let onnx = "Plus";
}
def CountOp : Op<"count", [Pure]> {
  let summary = "counts what is \"there\"";
  let description = "One paragraph.";
  let operands = (ins FloatTensor:$input, OptionalTensor:$limit, Tensors:$others);
  let attributes = (attrs I64:$axis, Optional<ElementType>:$type, Default<Speed, "Speed::VeryFast">:$speed, Default<F64List, "{}">:$weights, Str:$name);
  let results = (outs Tensor:$count, Tensor:$rest);
  let constraints = [Constraint<"op.axis() >= 0", "the axis must be positive", ["op.axis()"]>];
  let inferTypes = "inferCount";
}
def RepeatOp : Op<"repeat"> {
  let summary = "its maker says the types";
  let operands = (ins Tensors:$inputs);
  let regions = ["body"];
  let results = (outs Tensors:$results);
}
