// SPDX-License-Identifier: Apache-2.0
// gather_elements, gather_nd, scatter_elements, scatter_nd.
#include "codegen/emitters/Emitters.h"
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

/// Of gather_elements and scatter_elements: one dimension is looked up.
static void printElements(ProblemPrinter &problem, const TensorType &data,
                          const TensorType &indices, int64_t axis) {
  problem.constant("int", "kRank", llvm::Twine(data.rank()));
  problem.constant("int", "kAxis", llvm::Twine(axis));
  problem.sizes("dim", data.shape);
  problem.sizes("indexDim", indices.shape);
}

/// Of gather_nd and scatter_nd: tuples of indices along the dimensions that
/// follow `batch`, each the place of a slice.
static llvm::Error printTuples(ProblemPrinter &problem, const TensorType &data,
                               const TensorType &indices, int64_t batch) {
  std::optional<int64_t> depth = indices.shape.back().tryConstant();
  if (!depth)
    return refuse("the length of the index tuples is not known");
  problem.constant("int", "kDepth", llvm::Twine(*depth));
  problem.sizes("dim", subshape(data.shape, batch, batch + *depth));
  problem.size("tuples", elementCount(subshape(indices.shape, batch,
                                               indices.rank() - 1)));
  problem.size("slice",
               elementCount(subshape(data.shape, batch + *depth, data.rank())));
  return llvm::Error::success();
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
  llvm::Expected<GatherElementsOp> taken = takeSole<GatherElementsOp>(unit);
  if (!taken)
    return taken.takeError();
  GatherElementsOp op = *taken;
  KernelBuilder kernel(unit, context);
  kernel.include("gather");
  ProblemPrinter problem(kernel);
  const TensorType &result = unit.resultType(0);
  printGather(problem, kernel, op.input(), op.indices(), result);
  printElements(problem, op.input()->type(), op.indices()->type(), op.axis());
  return finish(kernel, problem, "gather_elements", result.elementCount());
}

llvm::Expected<Emission>
GatherNdEmitter::emit(const Unit &unit, const EmitContext &context) const {
  llvm::Expected<GatherNdOp> taken = takeSole<GatherNdOp>(unit);
  if (!taken)
    return taken.takeError();
  GatherNdOp op = *taken;
  KernelBuilder kernel(unit, context);
  kernel.include("gather");
  ProblemPrinter problem(kernel);
  const TensorType &result = unit.resultType(0);
  printGather(problem, kernel, op.input(), op.indices(), result);
  if (llvm::Error e = printTuples(problem, op.input()->type(),
                                  op.indices()->type(), op.batchDims()))
    return e;
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
  llvm::Expected<ScatterElementsOp> taken = takeSole<ScatterElementsOp>(unit);
  if (!taken)
    return taken.takeError();
  ScatterElementsOp op = *taken;
  KernelBuilder kernel(unit, context);
  ProblemPrinter problem(kernel);
  const TensorType &result = unit.resultType(0);
  printScatter(problem, kernel, op.input(), op.indices(), op.updates(),
               op.reduction(), result);
  printElements(problem, op.input()->type(), op.indices()->type(), op.axis());
  return finish(kernel, problem, "scatter_elements", result.elementCount());
}

llvm::Expected<Emission>
ScatterNdEmitter::emit(const Unit &unit, const EmitContext &context) const {
  llvm::Expected<ScatterNdOp> taken = takeSole<ScatterNdOp>(unit);
  if (!taken)
    return taken.takeError();
  ScatterNdOp op = *taken;
  KernelBuilder kernel(unit, context);
  ProblemPrinter problem(kernel);
  const TensorType &result = unit.resultType(0);
  printScatter(problem, kernel, op.input(), op.indices(), op.updates(),
               op.reduction(), result);
  if (llvm::Error e =
          printTuples(problem, op.input()->type(), op.indices()->type(), 0))
    return e;
  return finish(kernel, problem, "scatter_nd", result.elementCount());
}
