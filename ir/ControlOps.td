// SPDX-License-Identifier: Apache-2.0
// Control flow and fusions. Region graphs see only their own inputs, the operands
// of the op in order (no implicit capture).

def IfOp : Op<"if"> {
  let summary = "runs `then` or `else` on `inputs`; both yield the results";
  let operands = (ins BoolTensor:$condition, Tensors:$inputs);
  let regions = ["thenGraph", "elseGraph"];
  let results = (outs Tensors:$results);
  let inferTypes = "inferIf";
}
def LoopOp : Op<"loop"> {
  let summary = "runs `body` until the trip count or the condition ends it (ONNX Loop)";
  let description = "body inputs: iteration i64 scalar, condition bool scalar, carried values..., invariants... ; yields condition, carried..., scan outputs... . `carried` counts the carried values among `inputs`.";
  let operands = (ins OptionalTensor:$trips, OptionalTensor:$condition, Tensors:$inputs);
  let attributes = (attrs I64:$carried);
  let regions = ["body"];
  let results = (outs Tensors:$results);
}

def FusionKind : Enum<["loop", "reduction", "contraction", "window", "attention", "recurrence", "group"]>;
def FusionOp : Op<"fusion", [Pure]> {
  let summary = "a body of ordinary ops that becomes one kernel";
  let description = "heroes: positions in the body of the ops that give the fusion its kind, in order. space, reduce: the iteration space and the reduced dimensions. Prologue and epilogue are derived from the body (ir/FusionBody.h), never stored.";
  let operands = (ins Tensors:$inputs);
  let attributes = (attrs FusionKind:$kind, I64List:$heroes, Dims:$space, Dims:$reduce);
  let regions = ["body"];
  let results = (outs Tensors:$results);
  let inferTypes = "inferFusion"; // the types of the body's outputs
}
