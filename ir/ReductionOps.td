// SPDX-License-Identifier: Apache-2.0
// Reductions and scans.

def ReduceKind : Enum<["sum", "max", "min", "prod", "any", "all"]>;
def ReduceOp : Op<"reduce", [Pure, Hero]> {
  let summary = "combines the elements along `axes`; over nothing gives the neutral element";
  let description = "sum and prod accumulate in at least f32. max and min propagate NaN. any and all take bool. A mean is sum / count.";
  let operands = (ins Tensor:$input);
  let attributes = (attrs ReduceKind:$kind, I64List:$axes, Default<Bool, "true">:$keepDims);
  let inferTypes = "inferReduce";
}
def ArgReduceKind : Enum<["max", "min"]>;
def ArgReduceOp : Op<"arg_reduce", [Pure, Hero]> {
  let summary = "i64 index of the largest or smallest element along `axis`; the first NaN wins, ties: the first (or last)";
  let operands = (ins Tensor:$input);
  let attributes = (attrs ArgReduceKind:$kind, I64:$axis, Default<Bool, "true">:$keepDims, Default<Bool, "false">:$selectLast);
  let inferTypes = "inferArgReduce";
}
def CumulativeKind : Enum<["sum", "prod"]>;
def CumulativeOp : Op<"cumulative", [Pure]> {
  let summary = "running sum or product along `axis` (ONNX CumSum, CumProd)";
  let operands = (ins NumberTensor:$input);
  let attributes = (attrs CumulativeKind:$kind, I64:$axis, Default<Bool, "false">:$exclusive, Default<Bool, "false">:$reverse);
  let constraints = [
    Constraint<"op.axis() >= 0 && op.axis() < op.input()->type().rank()", "the axis must be a dimension of the input", ["op.axis()", "op.input()->type()"]>];
  let inferTypes = "inferSameAsFirst";
}
def TopKOp : Op<"topk", [Pure]> {
  let summary = "the k largest or smallest elements along `axis` and their i64 indices; ties: the lower index first";
  let operands = (ins Tensor:$input);
  let attributes = (attrs Dims:$k, I64:$axis, Default<Bool, "true">:$largest, Default<Bool, "true">:$sorted);
  let results = (outs Tensor:$values, Tensor:$indices);
  let inferTypes = "inferTopK";
}
