// SPDX-License-Identifier: Apache-2.0
// Ops whose data movement depends on data, and resampling. Indices are i32 or
// i64; negative ones count from the end; out of range: a gather reads zero, a
// scatter drops the update.

def GatherOp : Op<"gather", [Pure]> {
  let summary = "result[..., indices, ...] = input along `axis` (ONNX Gather)";
  let operands = (ins Tensor:$input, IntTensor:$indices);
  let attributes = (attrs I64:$axis);
  let inferTypes = "inferGather";
}
def GatherElementsOp : Op<"gather_elements", [Pure]> {
  let summary = "result[i][j] = input[indices[i][j]][j] for axis 0 (ONNX GatherElements)";
  let operands = (ins Tensor:$input, IntTensor:$indices);
  let attributes = (attrs I64:$axis);
  let inferTypes = "inferGatherElements";
}
def GatherNdOp : Op<"gather_nd", [Pure]> {
  let summary = "index tuples along the last dimension of `indices` select slices (ONNX GatherND)";
  let operands = (ins Tensor:$input, IntTensor:$indices);
  let attributes = (attrs Default<I64, "0">:$batchDims);
  let inferTypes = "inferGatherNd";
}
def ScatterReduction : Enum<["none", "add", "mul", "max", "min"]>;
def ScatterElementsOp : Op<"scatter_elements", [Pure]> {
  let summary = "a copy of input with updates written at indices along `axis`; the last update in row-major order wins";
  let operands = (ins Tensor:$input, IntTensor:$indices, Tensor:$updates);
  let attributes = (attrs I64:$axis, Default<ScatterReduction, "ScatterReduction::None">:$reduction);
  let constraints = [
    Constraint<"op.axis() >= 0 && op.axis() < op.input()->type().rank()", "the axis must be a dimension of the input", ["op.axis()", "op.input()->type()"]>,
    Constraint<"sameShape(op.indices()->type(), op.updates()->type())", "indices and updates must have one shape", ["op.indices()->type()", "op.updates()->type()"]>,
    Constraint<"op.updates()->type().element == op.input()->type().element", "input and updates must have one element type", ["op.input()->type()", "op.updates()->type()"]>,
    Constraint<"op.indices()->type().rank() == op.input()->type().rank()", "input and indices must have one rank", ["op.input()->type()", "op.indices()->type()"]>];
  let inferTypes = "inferSameAsFirst";
}
def ScatterNdOp : Op<"scatter_nd", [Pure]> {
  let summary = "a copy of input with slices written at index tuples (ONNX ScatterND)";
  let operands = (ins Tensor:$input, IntTensor:$indices, Tensor:$updates);
  let attributes = (attrs Default<ScatterReduction, "ScatterReduction::None">:$reduction);
  let constraints = [
    Constraint<"op.updates()->type().element == op.input()->type().element", "input and updates must have one element type", ["op.input()->type()", "op.updates()->type()"]>,
    Constraint<"op.indices()->type().rank() >= 1", "indices must have rank 1 or more", ["op.indices()->type()"]>,
    Constraint<"op.indices()->type().dim(-1).isConstant()", "the last dimension of indices must be known", ["op.indices()->type()"]>];
  let inferTypes = "inferSameAsFirst";
}
def ResizeMode : Enum<["nearest", "linear", "cubic"]>;
def CoordinateMode : Enum<["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"]>;
def NearestMode : Enum<["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]>;
def ResizeOp : Op<"resize", [Pure]> {
  let summary = "resamples to `sizes` (ONNX Resize)";
  let description = "One entry per dimension. Coordinates are exact rationals when `scales` is empty (sizes were given): scale = sizes / input. With scales, coordinates use them in f64. roi (2 per dimension) only for tf_crop_and_resize.";
  let operands = (ins NumberTensor:$input);
  let attributes = (attrs Dims:$sizes, F64List:$scales, ResizeMode:$mode, CoordinateMode:$coordinates, Default<NearestMode, "NearestMode::RoundPreferFloor">:$nearest, Default<F64, "-0.75">:$cubicCoefficient, Default<Bool, "false">:$excludeOutside, Default<F64List, "{}">:$roi, Default<F64, "0.0">:$extrapolation, Default<Bool, "false">:$antialias);
  let inferTypes = "inferResize";
}
def NonMaxSuppressionOp : Op<"nms", [Pure]> {
  let summary = "selected [batch, class, box] triples, i64 [count, 3]; count is a symbol whose home is a device cell (ONNX NonMaxSuppression)";
  let operands = (ins FloatTensor:$boxes, FloatTensor:$scores, OptionalTensor:$maxOutputBoxesPerClass, OptionalTensor:$iouThreshold, OptionalTensor:$scoreThreshold);
  let attributes = (attrs Default<Bool, "false">:$centerPointBox, Str:$countSymbol);
  let inferTypes = "inferNonMaxSuppression";
}
def NonZeroOp : Op<"nonzero", [Pure]> {
  let summary = "indices of the elements that are not zero, i64 [rank, count]; count is a symbol whose home is a device cell (ONNX NonZero)";
  let operands = (ins Tensor:$input);
  let attributes = (attrs Str:$countSymbol);
  let inferTypes = "inferNonZero";
}
