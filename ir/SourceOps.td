// SPDX-License-Identifier: Apache-2.0
// Ops without operands: where values come from.

def ConstantOp : Op<"constant", [Pure]> {
  let summary = "a tensor known at compile time";
  let attributes = (attrs Dense:$value);
  let inferTypes = "inferConstant";
}
def DimsOp : Op<"dims", [Pure]> {
  let summary = "an i64 vector (or scalar) of dimension expressions";
  let description = "What a shape subgraph folds to: `dims {values = [\"N\", 3, 2*\"W\"]}`. A scalar when `scalar` is set.";
  let attributes = (attrs Dims:$values, Default<Bool, "false">:$scalar);
  let inferTypes = "inferDims";
}
def IotaOp : Op<"iota", [Pure]> {
  let summary = "the index along `axis`, as a tensor of `shape`";
  let attributes = (attrs Dims:$shape, I64:$axis, ElementType:$type);
  let inferTypes = "inferIota";
}
