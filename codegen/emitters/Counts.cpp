// SPDX-License-Identifier: Apache-2.0
// nonzero and nms: ops whose result's size a kernel computes.
#include "codegen/emitters/Emitters.h"
#include "codegen/emitters/ProblemPrinter.h"

using namespace dlc;
using namespace dlc::codegen;

llvm::Expected<Emission>
NonZeroEmitter::emit(const Unit &unit, const EmitContext &context) const {
  llvm::Expected<NonZeroOp> taken = takeSole<NonZeroOp>(unit);
  if (!taken)
    return taken.takeError();
  NonZeroOp op = *taken;
  const TensorType &type = op.input()->type();
  KernelBuilder kernel(unit, context);
  kernel.include("nonzero");
  ProblemPrinter problem(kernel);
  problem.type("T", storageName(type.element));
  problem.type("Index", "::Index");
  problem.constant("int", "kRank", llvm::Twine(type.rank()));
  problem.sizes("dim", type.shape);
  problem.size("size", type.elementCount());
  problem.pointer(storageName(type.element), "input",
                  kernel.operand(op.input()));
  problem.pointer("int64_t", "result", kernel.result(0), true);
  problem.pointer("int64_t", "count", kernel.workspace(0, DataType::I64), true);
  kernel.functors = problem.str();
  kernel.threads = 1024;
  kernel.smemBytes = 2 * 32 * 8;
  Emission made;
  made.workspaces.push_back({DataType::I64, 1, op.countSymbol()});
  made.steps.push_back(kernel.finish("nonzero", kernel.types(), "",
                                     "  nonzero<Problem>(p, smem);\n", {1}));
  made.report = "one block counts, then writes";
  return made;
}

/// The value of an optional scalar operand, read in the kernel.
static std::string scalarOperand(KernelBuilder &kernel, const Unit &unit,
                                 Value *operand, llvm::StringRef type,
                                 llvm::StringRef absent) {
  for (auto [i, input] :
       llvm::enumerate(unit.body().ops().empty() ? llvm::ArrayRef<Value *>()
                                                 : unit.inputs()))
    if (operand && operand->inputOf() && operand->index() == i)
      return (type + "(convert<" + type + ">(ld(" + kernel.input(unsigned(i)) +
              ", 0)))")
          .str();
  if (operand && operand->definingOp())
    if (auto c = llvm::dyn_cast<ConstantOp>(operand->definingOp()))
      return (type + "(" + literal(c.value().type().element, c.value(), 0) +
              ")")
          .str();
  return absent.str();
}

llvm::Expected<Emission>
NonMaxSuppressionEmitter::emit(const Unit &unit,
                               const EmitContext &context) const {
  llvm::Expected<NonMaxSuppressionOp> taken =
      takeSole<NonMaxSuppressionOp>(unit);
  if (!taken)
    return taken.takeError();
  NonMaxSuppressionOp op = *taken;
  const TensorType &boxes = op.boxes()->type(), &scores = op.scores()->type();
  Dim lists = scores.shape[0] * scores.shape[1];
  Emission made;
  made.workspaces.push_back({DataType::I32, lists * boxes.shape[1], ""});
  made.workspaces.push_back({DataType::I32, lists, ""});
  made.workspaces.push_back({DataType::I64, 1, op.countSymbol()});
  for (bool write : {false, true}) {
    KernelBuilder kernel(unit, context);
    kernel.include("nms");
    ProblemPrinter problem(kernel);
    problem.type("T", storageName(boxes.element));
    problem.type("Index", "::Index");
    problem.size("batches", scores.shape[0]);
    problem.size("classes", scores.shape[1]);
    problem.size("boxes", boxes.shape[1]);
    problem.pointer("int32_t", "taken", kernel.workspace(0, DataType::I32),
                    true);
    problem.pointer("int32_t", "takenCount", kernel.workspace(1, DataType::I32),
                    true);
    if (write) {
      problem.pointer("int64_t", "result", kernel.result(0), true);
      problem.pointer("int64_t", "count", kernel.workspace(2, DataType::I64),
                      true);
    } else {
      problem.flag("kCenter", op.centerPointBox());
      problem.pointer(storageName(boxes.element), "boxData",
                      kernel.operand(op.boxes()));
      problem.pointer(storageName(scores.element), "scoreData",
                      kernel.operand(op.scores()));
      problem.function("int64_t", "maxOutput", "const P &p",
                       scalarOperand(kernel, unit, op.maxOutputBoxesPerClass(),
                                     "int64_t", "0"));
      problem.function(
          "float", "iouThreshold", "const P &p",
          scalarOperand(kernel, unit, op.iouThreshold(), "float", "0.f"));
      problem.flag("kHasScoreThreshold", op.scoreThreshold() != nullptr);
      problem.function(
          "float", "scoreThreshold", "const P &p",
          scalarOperand(kernel, unit, op.scoreThreshold(), "float", "0.f"));
      kernel.smemBytes = 32 * 16;
    }
    kernel.functors = problem.str();
    made.steps.push_back(
        kernel.finish(write ? "nms_write" : "nms_select", kernel.types(), "",
                      write ? "  nms_write<Problem>(p);\n"
                            : "  nms_select<Problem>(p, smem);\n",
                      {write ? Dim(1) : lists}));
  }
  made.report = "one block per batch and class, then one that joins";
  return made;
}
