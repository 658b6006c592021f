// SPDX-License-Identifier: Apache-2.0
// arg_reduce, cumulative and topk: ops that work along one axis.
#include "codegen/emitters/Emitters.h"
#include "codegen/emitters/ProblemPrinter.h"

using namespace dlc;
using namespace dlc::codegen;

/// What the three have in common: element type and the split around the axis.
static AxisSplit printAxis(ProblemPrinter &problem, const Value *input,
                           int64_t axis, KernelBuilder &kernel) {
  const TensorType &type = input->type();
  AxisSplit split = splitAt(type.shape, axis);
  problem.type("T", storageName(type.element));
  problem.type("Index", "::Index");
  problem.size("outer", split.outer);
  problem.size("length", split.length);
  problem.size("inner", split.inner);
  problem.pointer(storageName(type.element), "input", kernel.operand(input));
  return split;
}

/// One warp per row.
static constexpr int64_t kRowsPerBlock = 8;

llvm::Expected<Emission>
ArgReduceEmitter::emit(const Unit &unit, const EmitContext &context) const {
  llvm::Expected<ArgReduceOp> taken = takeSole<ArgReduceOp>(unit);
  if (!taken)
    return taken.takeError();
  ArgReduceOp op = *taken;
  KernelBuilder kernel(unit, context);
  kernel.include("arg_reduce");
  ProblemPrinter problem(kernel);
  AxisSplit split = printAxis(problem, op.input(), op.axis(), kernel);
  problem.flag("kLargest", op.kind() == ArgReduceKind::Max);
  problem.flag("kSelectLast", op.selectLast());
  problem.pointer("int64_t", "result", kernel.result(0), true);
  kernel.functors = problem.str();
  Emission made;
  made.steps.push_back(kernel.finish(
      "arg_reduce", kernel.types(), "", "  arg_reduce<Problem>(p);\n",
      {blocksFor(split.outer * split.inner, kRowsPerBlock)}));
  made.report = "one warp per row";
  return made;
}

llvm::Expected<Emission>
CumulativeEmitter::emit(const Unit &unit, const EmitContext &context) const {
  llvm::Expected<CumulativeOp> taken = takeSole<CumulativeOp>(unit);
  if (!taken)
    return taken.takeError();
  CumulativeOp op = *taken;
  KernelBuilder kernel(unit, context);
  kernel.include("cumulative");
  ProblemPrinter problem(kernel);
  const TensorType &type = op.input()->type();
  AxisSplit split = printAxis(problem, op.input(), op.axis(), kernel);
  problem.type("Combine",
               op.kind() == CumulativeKind::Sum ? "ReduceSum" : "ReduceProd");
  problem.flag("kExclusive", op.exclusive());
  problem.flag("kReverse", op.reverse());
  problem.pointer(storageName(type.element), "result", kernel.result(0), true);
  kernel.functors = problem.str();
  Emission made;
  made.steps.push_back(kernel.finish(
      "cumulative", kernel.types(), "", "  cumulative<Problem>(p);\n",
      {blocksFor(split.outer * split.inner, kRowsPerBlock)}));
  made.report = "one warp per row";
  return made;
}

llvm::Expected<Emission> TopKEmitter::emit(const Unit &unit,
                                           const EmitContext &context) const {
  llvm::Expected<TopKOp> taken = takeSole<TopKOp>(unit);
  if (!taken)
    return taken.takeError();
  TopKOp op = *taken;
  KernelBuilder kernel(unit, context);
  kernel.include("topk");
  ProblemPrinter problem(kernel);
  const TensorType &type = op.input()->type();
  AxisSplit split = printAxis(problem, op.input(), op.axis(), kernel);
  problem.size("k", unit.resultType(0).shape[op.axis()]);
  problem.flag("kLargest", op.largest());
  problem.pointer(storageName(type.element), "values", kernel.result(0), true);
  problem.pointer("int64_t", "indices", kernel.result(1), true);
  kernel.functors = problem.str();
  // k rounds over the row, or a count of all that come before each element.
  std::optional<int64_t> k =
      upperBound(unit.resultType(0).shape[op.axis()], context.symbols);
  bool select = k && *k <= 32;
  Dim rows = split.outer * split.inner;
  Emission made;
  if (select)
    kernel.smemBytes = 32 * 16;
  made.steps.push_back(kernel.finish(
      "topk", kernel.types(), select ? "select" : "rank",
      select ? "  topk_select<Problem>(p, smem);\n"
             : "  topk_rank<Problem>(p);\n",
      {select ? blocksFor(rows, 1) : blocksFor(rows * split.length, 256)}));
  made.report = select ? "one block per row, k rounds"
                       : "place by rank, one thread per element";
  return made;
}
