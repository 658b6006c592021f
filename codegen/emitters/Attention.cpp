// SPDX-License-Identifier: Apache-2.0
// Attention: products, softmax and products in one kernel.
#include "codegen/Contraction.h"
#include "codegen/EpiloguePrinter.h"
#include "codegen/TypicalSize.h"
#include "codegen/emitters/Emitters.h"
#include "codegen/tiling/AttentionTiling.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {
/// Columns that rows in shared memory and registers have room for.
constexpr int64_t kMaxColumns = 128;

class Printer {
public:
  Printer(KernelBuilder &kernel, AttentionOp op)
      : kernel(kernel), op(op), symbols(kernel.context().symbols) {
    const Shape &result = op.result()->type().shape;
    outer.assign(result.begin(), result.end() - 2);
    m = result[result.size() - 2];
    n = op.k()->type().dim(-2);
    batch = elementCount(outer);
  }
  /// Why no kernel of this kind would do; empty if one does.
  std::string refusal() const;
  llvm::Error print();
  AttentionProblem problem() const;

  Dim batch = 1, m = 1, n = 1;

private:
  llvm::Error printOperand(const Value *operand, llvm::StringRef side,
                           const Dim &rows, int &vector);
  llvm::Error printBias();
  llvm::Error printEpilogue();

  KernelBuilder &kernel;
  AttentionOp op;
  const SymbolTable &symbols;
  Shape outer;
  int vectorQ = 1, vectorK = 1, vectorV = 1;
};

std::string Printer::refusal() const {
  const Target &target = kernel.context().target;
  DataType in = op.q()->type().element;
  if (in != DataType::F16 && in != DataType::BF16)
    return "expected q, k and v of f16 or bf16, found " + stringify(in).str();
  if (in == DataType::BF16 && !target.isHost() && target.sm < 80)
    return "products of bf16 need sm_80 or newer";
  for (const Value *v : {op.q(), op.v()}) {
    std::optional<int64_t> columns = v->type().dim(-1).tryConstant();
    if (!columns || *columns < 1 || *columns > kMaxColumns)
      return "expected rows of 1 to " + std::to_string(kMaxColumns) +
             " elements, found " + v->type().dim(-1).str();
  }
  return "";
}

AttentionProblem Printer::problem() const {
  AttentionProblem p;
  p.batch = typicalSize(batch, symbols);
  p.m = typicalSize(m, symbols);
  p.n = typicalSize(n, symbols);
  p.depth = op.q()->type().dim(-1).constant();
  p.width = op.v()->type().dim(-1).constant();
  p.largestN = upperBound(n, symbols).value_or(0);
  p.vectorQ = vectorQ;
  p.vectorK = vectorK;
  p.vectorV = vectorV;
  return p;
}

llvm::Error Printer::printOperand(const Value *operand, llvm::StringRef side,
                                  const Dim &rows, int &vector) {
  const Shape &shape = operand->type().shape;
  OperandPrinter printer(kernel, side);
  Dim b = printer.batch(batch), row = printer.row(rows);
  printer.element(shape.back());
  auto place = [&](const Dim &k, const Dim &lane) {
    OperandPrinter::Place p;
    p.at.index = broadcastIndex(llvm::ArrayRef(shape).drop_back(2),
                                delinearize(b, outer));
    p.at.index.push_back(row);
    p.at.index.push_back(k + lane);
    return p;
  };
  vector = int(printer.vectorWidth(operand, place, shape.back()));
  kernel.addConstant("int", ("kVector" + side).str(), llvm::Twine(vector));
  return printer.print(operand, place, vector, operand->type().element,
                       kernel.functors);
}

llvm::Error Printer::printBias() {
  const Value *bias = op.bias();
  const int64_t vector = !bias ? 0 : isMultipleOf(n, 2, symbols) ? 2 : 1;
  kernel.addConstant("int", "kVectorBias", llvm::Twine(vector));
  if (!bias)
    return llvm::Error::success();
  BodyPrinter printer(kernel, vector);
  Shape at = delinearize(printer.coordinate("b", batch), outer);
  at.push_back(printer.coordinate("m", m));
  at.push_back(printer.firstLane("n", n) + printer.lane());
  std::string value = printer.value(
      bias, {broadcastIndex(bias->type().shape, at), std::nullopt, {}});
  printer.statement(std::string("out[") + (vector > 1 ? "e" : "0") +
                    "] = float(" + value + ");");
  const std::string width = std::to_string(vector);
  kernel.addFunction(
      "void bias(const P &p, Index b, Index m, Index n, float "
      "(&out)[" +
          width + "])",
      (vector > 1 ? "    constexpr int V = " + width + ";\n" : std::string()) +
          printer.take(4));
  return printer.takeError();
}

llvm::Error Printer::printEpilogue() {
  Dim width = op.v()->type().dim(-1);
  auto result = [&](const Dim &b, const Dim &row, const Dim &column) {
    Coordinates at;
    at.index = delinearize(b, outer);
    at.index.push_back(row);
    at.index.push_back(column);
    at.linear = (b * m + row) * width + column;
    return at;
  };
  EpiloguePrinter epilogue(kernel, *op.op(), batch, m, width, result,
                           DataType::F32);
  const int64_t vector = epilogue.vectorWidth();
  std::string text;
  if (llvm::Error e = epilogue.print(vector, text))
    return e;
  kernel.addConstant("int", "kVectorC", llvm::Twine(vector));
  kernel.addLanesFunction("void apply(const P &p, Index b, Index m, Index n, "
                          "const float (&v)[V])",
                          text);
  return llvm::Error::success();
}

llvm::Error Printer::print() {
  std::string &out = kernel.functors;
  out += "struct Problem {\n  using In = " +
         storageName(op.q()->type().element).str() +
         ";\n  static constexpr int kDepth = " + op.q()->type().dim(-1).str() +
         ", kWidth = " + op.v()->type().dim(-1).str() +
         ";\n  static constexpr float kScale = " +
         literal(DataType::F32, op.scale()) + ";\n";
  kernel.addFlag("kNanRowsZero", op.nanRowsZero());
  kernel.addSize("batch", batch);
  kernel.addSize("m", m);
  kernel.addSize("n", n);
  if (llvm::Error e = printOperand(op.q(), "Q", m, vectorQ))
    return e;
  if (llvm::Error e = printOperand(op.k(), "K", n, vectorK))
    return e;
  if (llvm::Error e = printOperand(op.v(), "V", n, vectorV))
    return e;
  if (llvm::Error e = printBias())
    return e;
  if (llvm::Error e = printEpilogue())
    return e;
  out += "};\n";
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Emission>
AttentionEmitter::emit(const Unit &unit, const EmitContext &context) const {
  if (unit.heroes().size() != 1 ||
      unit.heroes()[0]->kind() != OpKind::Attention)
    return refuse("");
  KernelBuilder kernel(unit, context);
  Printer printer(kernel, llvm::cast<AttentionOp>(unit.heroes()[0]));
  if (std::string why = printer.refusal(); !why.empty())
    return refuse(why);
  kernel.include("attention");
  kernel.include("scalar");
  if (llvm::Error e = printer.print())
    return e;
  const AttentionProblem problem = printer.problem();
  const AttentionTiling tiling = chooseAttentionTiling(problem, context.target);
  kernel.threads = unsigned(tiling.threads());
  kernel.smemBytes = unsigned(tiling.sharedBytes(problem));
  kernel.functors += "using Config = " + tiling.config() + ";\n";
  Emission made;
  made.steps.push_back(kernel.finish(
      "attention", kernel.types(), tiling.name(),
      "  AttentionTile<Problem, Config>::run(p, blockIdx.x, smem);\n",
      {printer.batch * ceilDiv(printer.m, tiling.rows())}));
  made.microseconds = tiling.microseconds;
  made.flops = 2 * problem.batch * problem.m * problem.n *
               (problem.depth + problem.width);
  made.report = "attention " + tiling.name() + ", vectors " +
                std::to_string(problem.vectorQ) + " " +
                std::to_string(problem.vectorK) + " " +
                std::to_string(problem.vectorV);
  return made;
}
