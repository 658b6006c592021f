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
def AttentionOp : Op<"attention", [Pure, Hero]> {
  let summary = "softmax(scale * q k^T + bias) v: for each row of q [..., M, D], the mean of the rows of v [..., N, Dv] weighted by its products with k [..., N, D]";
  let description = "Leading dimensions broadcast; bias broadcasts to [..., M, N], and is added in at least f32. The row maximum, exponentials and their sum are computed in at least f32; weights may be rounded to the type of v, before or after the division by their sum. A row whose scores are all -inf has the weights 0/0, NaN, as the formula says; with nanRowsZero, rows whose weights are NaN give zeros. With no keys the result is 0. Formed from its parts by FormAttention.";
  let operands = (ins FloatTensor:$q, FloatTensor:$k, FloatTensor:$v, OptionalFloatTensor:$bias);
  let attributes = (attrs F64:$scale, Default<Bool, "false">:$nanRowsZero);
  let constraints = [
    Constraint<"op.q()->type().rank() >= 2", "q must have rank 2 or more", ["op.q()->type()"]>,
    Constraint<"op.k()->type().rank() >= 2", "k must have rank 2 or more", ["op.k()->type()"]>,
    Constraint<"op.v()->type().rank() >= 2", "v must have rank 2 or more", ["op.v()->type()"]>,
    Constraint<"op.q()->type().element == op.k()->type().element && op.q()->type().element == op.v()->type().element", "q, k and v must have one element type", ["op.q()->type()", "op.k()->type()", "op.v()->type()"]>,
    Constraint<"op.scale() > 0 && op.scale() <= largestScale", "the scale must be a positive number that f32 holds", ["op.scale()"]>];
  let inferTypes = "inferAttention";
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
