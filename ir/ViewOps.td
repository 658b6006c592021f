// SPDX-License-Identifier: Apache-2.0
// Views: they move elements and compute nothing. In a fusion they are index
// arithmetic (ir/AccessMap.h). All sizes are dimension expressions.

def ReshapeOp : Op<"reshape", [Pure, View]> {
  let summary = "the same elements in row-major order, in another shape";
  let operands = (ins Tensor:$input);
  let attributes = (attrs Dims:$shape);
  let inferTypes = "inferReshape";
}
def TransposeOp : Op<"transpose", [Pure, View]> {
  let summary = "result dimension i is input dimension permutation[i]";
  let operands = (ins Tensor:$input);
  let attributes = (attrs I64List:$permutation);
  let inferTypes = "inferTranspose";
}
def BroadcastOp : Op<"broadcast", [Pure, View]> {
  let summary = "NumPy broadcast to `shape`: missing leading dimensions and those of size 1 repeat";
  let operands = (ins Tensor:$input);
  let attributes = (attrs Dims:$shape);
  let inferTypes = "inferBroadcast";
}
def SliceOp : Op<"slice", [Pure, View]> {
  let summary = "result index i reads input index starts + i * steps, per dimension";
  let description = "One entry per dimension in each list; steps may be negative (then starts is the last index read first). All in range: normalised at import.";
  let operands = (ins Tensor:$input);
  let attributes = (attrs Dims:$starts, Dims:$sizes, I64List:$steps);
  let inferTypes = "inferSlice";
}
def PadMode : Enum<["constant", "reflect", "edge", "wrap"]>;
def PadOp : Op<"pad", [Pure, View]> {
  let summary = "adds low and high elements per dimension; negative amounts crop";
  let operands = (ins Tensor:$input, OptionalTensor:$value);
  let attributes = (attrs Dims:$low, Dims:$high, Default<PadMode, "PadMode::Constant">:$mode);
  let inferTypes = "inferPad";
}
def ConcatOp : Op<"concat", [Pure, View]> {
  let summary = "joins the inputs along `axis`";
  let operands = (ins Tensors:$inputs);
  let attributes = (attrs I64:$axis);
  let inferTypes = "inferConcat";
}
def LayoutCopyOp : Op<"layout_copy", [Pure, View]> {
  let summary = "the same logical tensor, stored in another layout";
  let operands = (ins Tensor:$input);
  let attributes = (attrs LayoutAttr:$layout);
  let inferTypes = "inferLayoutCopy";
}
