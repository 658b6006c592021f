// SPDX-License-Identifier: Apache-2.0
// Contractions and windows. Logical dimension order is ONNX's: [N, C, spatial...];
// where a value lies in memory is its layout's business. With tf32, f32 operands may
// be rounded to ten bits of significand before they are multiplied.

def MatMulOp : Op<"matmul", [Pure, Hero, SameTypeOperands]> {
  let summary = "lhs [..., M, K] times rhs [..., K, N]; leading dimensions broadcast; accumulates in at least f32";
  let description = "With transposeRhs the last two dimensions of rhs are [N, K]; with transposeLhs those of lhs are [K, M]. Both operands have rank 2 or more (1-D operands are reshaped at import). Integers accumulate in i32 or wider: `resultType` where given.";
  let operands = (ins NumberTensor:$lhs, NumberTensor:$rhs);
  let attributes = (attrs Default<Bool, "false">:$transposeLhs, Default<Bool, "false">:$transposeRhs, Optional<ElementType>:$resultType, Default<Bool, "false">:$tf32);
  let constraints = [
    Constraint<"op.lhs()->type().rank() >= 2", "lhs must have rank 2 or more", ["op.lhs()->type()"]>,
    Constraint<"op.rhs()->type().rank() >= 2", "rhs must have rank 2 or more", ["op.rhs()->type()"]>];
  let inferTypes = "inferMatMul";
}
def ConvOp : Op<"conv", [Pure, Hero, SameTypeOperands]> {
  let summary = "convolution (cross-correlation) of input [N, C, spatial] with filter [M, C/groups, kernel]";
  let description = "1 to 3 spatial dimensions, one entry each in the lists. padLow, padHigh are explicit zeros. Accumulates in at least f32. ONNX Conv.";
  let operands = (ins NumberTensor:$input, NumberTensor:$filter);
  let attributes = (attrs I64List:$strides, I64List:$padLow, I64List:$padHigh, I64List:$dilations, Default<I64, "1">:$groups, Optional<ElementType>:$resultType, Default<Bool, "false">:$tf32);
  let constraints = [
    Constraint<"op.input()->type().rank() >= 3 && op.input()->type().rank() <= 5", "the input must have 1 to 3 spatial dimensions", ["op.input()->type()"]>,
    Constraint<"op.filter()->type().rank() == op.input()->type().rank()", "input and filter must have one rank", ["op.input()->type()", "op.filter()->type()"]>,
    Constraint<"op.groups() >= 1", "groups must be 1 or more", ["op.groups()"]>];
  let inferTypes = "inferConv";
}
def ConvTransposeOp : Op<"conv_transpose", [Pure, Hero, SameTypeOperands]> {
  let summary = "transposed convolution of input [N, C, spatial] with filter [C, M/groups, kernel]";
  let description = "result size = (in - 1) * stride + (kernel - 1) * dilation + 1 + outputPadding - padLow - padHigh. ONNX ConvTranspose.";
  let operands = (ins NumberTensor:$input, NumberTensor:$filter);
  let attributes = (attrs I64List:$strides, I64List:$padLow, I64List:$padHigh, I64List:$dilations, I64List:$outputPadding, Default<I64, "1">:$groups, Default<Bool, "false">:$tf32);
  let constraints = [
    Constraint<"op.input()->type().rank() >= 3 && op.input()->type().rank() <= 5", "the input must have 1 to 3 spatial dimensions", ["op.input()->type()"]>,
    Constraint<"op.filter()->type().rank() == op.input()->type().rank()", "input and filter must have one rank", ["op.input()->type()", "op.filter()->type()"]>,
    Constraint<"op.groups() >= 1", "groups must be 1 or more", ["op.groups()"]>];
  let inferTypes = "inferConvTranspose";
}
def PoolKind : Enum<["max", "average", "sum"]>;
def PoolOp : Op<"pool", [Pure, Hero]> {
  let summary = "max, average or sum over a sliding window; every list has one entry per dimension of the input";
  let description = "padHigh already includes what ceil_mode adds. average divides by the cells that lie in the input, or, with countIncludePad, in input and declared padding (`ceilExtra` cells at the end of each dimension are outside both). sum with a window over channels serves LRN.";
  let operands = (ins NumberTensor:$input);
  let attributes = (attrs PoolKind:$kind, I64List:$window, I64List:$strides, I64List:$padLow, I64List:$padHigh, I64List:$dilations, Default<Bool, "false">:$countIncludePad, Default<I64List, "{}">:$ceilExtra);
  let inferTypes = "inferPool";
}
