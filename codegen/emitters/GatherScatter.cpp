// SPDX-License-Identifier: Apache-2.0
// gather_elements, gather_nd, scatter_elements, scatter_nd.
#include "codegen/emitters/IndexEmitters.h"
#include "codegen/emitters/ProblemPrinter.h"

using namespace dlc;
using namespace dlc::codegen;

static constexpr int64_t kThreads = 256;

static void printGather(ProblemPrinter &problem, KernelBuilder &kernel,
                        Value *input, Value *indices,
                        const TensorType &result) {
  problem.type("T", storageName(input->type().element));
  problem.type("I", storageName(indices->type().element));
  problem.type("Index", "::Index");
  problem.pointer(storageName(input->type().element), "input",
                  kernel.operand(input));
  problem.pointer(storageName(indices->type().element), "indices",
                  kernel.operand(indices));
  problem.pointer(storageName(result.element), "result", kernel.result(0),
                  true);
  problem.size("size", result.elementCount());
}

static Emission finish(KernelBuilder &kernel, ProblemPrinter &problem,
                       llvm::StringRef kind, const Dim &elements) {
  kernel.functors = problem.str();
  Emission made;
  made.steps.push_back(kernel.finish(kind, kernel.types(), "",
                                     ("  " + kind + "<Problem>(p);\n").str(),
                                     {blocksFor(elements, kThreads)}));
  made.report = "one thread per element";
  return made;
}

llvm::Expected<Emission>
GatherElementsEmitter::emit(const Unit &unit,
                            const EmitContext &context) const {
  auto op = llvm::dyn_cast_or_null<GatherElementsOp>(unit.soleOp());
  if (!op)
    return refuse("");
  if (llvm::Error e = requireRowMajor(unit))
    return e;
  KernelBuilder kernel(unit, context);
  kernel.include("gather");
  ProblemPrinter problem(kernel);
  const TensorType &result = unit.resultType(0);
  printGather(problem, kernel, op.input(), op.indices(), result);
  problem.constant("int", "kRank", llvm::Twine(result.rank()));
  problem.constant("int", "kAxis", llvm::Twine(op.axis()));
  problem.sizes("dim", op.input()->type().shape);
  problem.sizes("indexDim", op.indices()->type().shape);
  return finish(kernel, problem, "gather_elements", result.elementCount());
}

llvm::Expected<Emission>
GatherNdEmitter::emit(const Unit &unit, const EmitContext &context) const {
  auto op = llvm::dyn_cast_or_null<GatherNdOp>(unit.soleOp());
  if (!op)
    return refuse("");
  if (llvm::Error e = requireRowMajor(unit))
    return e;
  const TensorType &data = op.input()->type(), &indices = op.indices()->type();
  std::optional<int64_t> depth = indices.shape.back().tryConstant();
  if (!depth)
    return refuse("the length of the index tuples is not known");
  KernelBuilder kernel(unit, context);
  kernel.include("gather");
  ProblemPrinter problem(kernel);
  const TensorType &result = unit.resultType(0);
  int64_t batch = op.batchDims();
  printGather(problem, kernel, op.input(), op.indices(), result);
  problem.constant("int", "kDepth", llvm::Twine(*depth));
  problem.sizes("dim", subshape(data.shape, batch, batch + *depth));
  problem.size("tuples", elementCount(subshape(indices.shape, batch,
                                               indices.rank() - 1)));
  problem.size("slice",
               elementCount(subshape(data.shape, batch + *depth, data.rank())));
  return finish(kernel, problem, "gather_nd", result.elementCount());
}

static llvm::StringRef combineName(ScatterReduction reduction) {
  switch (reduction) {
  case ScatterReduction::None:
    return "ScatterReplace";
  case ScatterReduction::Add:
    return "ReduceSum";
  case ScatterReduction::Mul:
    return "ReduceProd";
  case ScatterReduction::Max:
    return "ReduceMax";
  case ScatterReduction::Min:
    return "ReduceMin";
  }
  return "";
}

static void printScatter(ProblemPrinter &problem, KernelBuilder &kernel,
                         Value *input, Value *indices, Value *updates,
                         ScatterReduction reduction, const TensorType &result) {
  kernel.include("scatter");
  kernel.include("reduce");
  printGather(problem, kernel, input, indices, result);
  problem.pointer(storageName(result.element), "updates",
                  kernel.operand(updates));
  problem.type("Combine", combineName(reduction));
}

llvm::Expected<Emission>
ScatterElementsEmitter::emit(const Unit &unit,
                             const EmitContext &context) const {
  auto op = llvm::dyn_cast_or_null<ScatterElementsOp>(unit.soleOp());
  if (!op)
    return refuse("");
  if (llvm::Error e = requireRowMajor(unit))
    return e;
  KernelBuilder kernel(unit, context);
  ProblemPrinter problem(kernel);
  const TensorType &result = unit.resultType(0);
  printScatter(problem, kernel, op.input(), op.indices(), op.updates(),
               op.reduction(), result);
  problem.constant("int", "kRank", llvm::Twine(result.rank()));
  problem.constant("int", "kAxis", llvm::Twine(op.axis()));
  problem.sizes("dim", op.input()->type().shape);
  problem.sizes("indexDim", op.indices()->type().shape);
  return finish(kernel, problem, "scatter_elements", result.elementCount());
}

llvm::Expected<Emission>
ScatterNdEmitter::emit(const Unit &unit, const EmitContext &context) const {
  auto op = llvm::dyn_cast_or_null<ScatterNdOp>(unit.soleOp());
  if (!op)
    return refuse("");
  if (llvm::Error e = requireRowMajor(unit))
    return e;
  const TensorType &data = op.input()->type(), &indices = op.indices()->type();
  std::optional<int64_t> depth = indices.shape.back().tryConstant();
  if (!depth)
    return refuse("the length of the index tuples is not known");
  KernelBuilder kernel(unit, context);
  ProblemPrinter problem(kernel);
  const TensorType &result = unit.resultType(0);
  printScatter(problem, kernel, op.input(), op.indices(), op.updates(),
               op.reduction(), result);
  problem.constant("int", "kDepth", llvm::Twine(*depth));
  problem.sizes("dim", subshape(data.shape, 0, *depth));
  problem.size("tuples",
               elementCount(subshape(indices.shape, 0, indices.rank() - 1)));
  problem.size("slice",
               elementCount(subshape(data.shape, *depth, data.rank())));
  return finish(kernel, problem, "scatter_nd", result.elementCount());
}
