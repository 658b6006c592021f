// SPDX-License-Identifier: Apache-2.0
// lstm.
#include "codegen/emitters/Emitters.h"
#include "codegen/emitters/ProblemPrinter.h"

using namespace dlc;
using namespace dlc::codegen;

/// C++ of an activation of ONNX's list at v; nothing when it is not known.
static std::optional<std::string> activation(llvm::StringRef name, double alpha,
                                             double beta) {
  std::string a = literal(DataType::F32, alpha),
              b = literal(DataType::F32, beta);
  if (name == "sigmoid" || name == "tanh" || name == "relu")
    return ("scalar::" + name + "(v)").str();
  if (name == "affine")
    return a + " * v + " + b;
  if (name == "leakyrelu")
    return "v < 0 ? " + a + " * v : v";
  if (name == "thresholdedrelu")
    return "v > " + a + " ? v : 0.f";
  if (name == "scaledtanh")
    return a + " * scalar::tanh(" + b + " * v)";
  if (name == "hardsigmoid")
    return "scalar::max(0.f, scalar::min(1.f, " + a + " * v + " + b + "))";
  if (name == "elu")
    return "v < 0 ? " + a + " * scalar::expm1(v) : v";
  if (name == "softsign")
    return "v / (1.f + scalar::abs(v))";
  if (name == "softplus")
    return "scalar::max(v, 0.f) + scalar::log1p(scalar::exp(-scalar::abs(v)))";
  return std::nullopt;
}

/// Elements of a row of n that 16-byte loads take, or 1.
static int64_t rowVector(const Dim &n, DataType element,
                         const SymbolTable &symbols) {
  int64_t v = 16 / (bitWidth(element) / 8);
  return isMultipleOf(n, v, symbols) ? v : 1;
}

llvm::Expected<Emission> LstmEmitter::emit(const Unit &unit,
                                           const EmitContext &context) const {
  llvm::Expected<LstmOp> taken = takeSole<LstmOp>(unit);
  if (!taken)
    return taken.takeError();
  LstmOp op = *taken;
  const TensorType &x = op.x()->type(), &w = op.w()->type();
  if (computeType(x.element) != DataType::F32)
    return refuse("the recurrence computes in f32, found " +
                  stringify(x.element));
  const Dim inputs = x.shape[2], hidden = op.hidden(), directions = w.shape[0];
  std::optional<int64_t> width = upperBound(inputs, context.symbols);
  const int64_t smem = width ? (*width + 3 * op.hidden()) * 4 : INT64_MAX;
  if (smem > 48 * 1024)
    return refuse("input and state of one step take more than 48 KB");

  KernelBuilder kernel(unit, context);
  kernel.include("lstm");
  kernel.include("scalar");
  ProblemPrinter problem(kernel);
  llvm::StringRef element = storageName(x.element);
  problem.type("T", element);
  problem.type("Index", "::Index");
  problem.constant("int", "kVectorX",
                   llvm::Twine(rowVector(inputs, x.element, context.symbols)));
  problem.constant("int", "kVectorH",
                   llvm::Twine(rowVector(hidden, x.element, context.symbols)));
  problem.flag("kInputForget", op.inputForget());
  problem.constant("float", "kClip", literal(DataType::F32, op.clip()));
  problem.size("steps", x.shape[0]);
  problem.size("batch", x.shape[1]);
  problem.size("inputs", inputs);
  problem.size("hidden", hidden);
  problem.size("directions", directions);
  problem.function("bool", "reversed", "int direction",
                   op.direction() == Direction::Forward   ? "false"
                   : op.direction() == Direction::Reverse ? "true"
                                                          : "direction == 1");

  // f, g, h of each direction in turn.
  const std::vector<std::string> &names = op.activations();
  static constexpr const char *kFunctions[] = {"f", "g", "h"};
  for (auto [slot, function] : llvm::enumerate(kFunctions)) {
    std::string text[2];
    for (size_t d = 0; d < 2; d++) {
      size_t i = std::min(d * 3 + slot, names.size() - 3 + slot);
      auto parameter = [&](const std::vector<double> &list, double absent) {
        return i < list.size() ? list[i] : absent;
      };
      std::optional<std::string> made = activation(
          names[i],
          parameter(op.alpha(), names[i] == "hardsigmoid" ? 0.2 : 1.0),
          parameter(op.beta(), names[i] == "hardsigmoid" ? 0.5 : 0.0));
      if (!made)
        return refuse("activation \"" + names[i] + "\" is not known");
      text[d] = *made;
    }
    problem.function("float", function, "int direction, float v",
                     text[0] == text[1] ? text[0]
                                        : "direction == 0 ? (" + text[0] +
                                              ") : (" + text[1] + ")");
  }

  // Operands in order; absent ones are null.
  auto operand = [&](Value *v, llvm::StringRef name, llvm::StringRef type) {
    problem.pointer(type, name, v ? kernel.operand(v) : "nullptr");
  };
  operand(op.x(), "x", element);
  operand(op.w(), "w", element);
  operand(op.r(), "r", element);
  operand(op.b(), "bias", element);
  operand(op.initialH(), "initialH", element);
  operand(op.initialC(), "initialC", element);
  operand(op.p(), "peephole", element);
  if (Value *lengths = op.lengths(); lengths)
    problem.function("int64_t", "length", "const P &p, Index b",
                     "int64_t(ld(" + kernel.operand(lengths) + ", b))");
  else
    problem.function("int64_t", "length", "const P &p, Index b", "steps(p)");
  static constexpr const char *kResults[] = {"y", "yH", "yC"};
  for (auto [i, name] : llvm::enumerate(kResults))
    problem.pointer(element, name, kernel.result(unsigned(i)), true);
  kernel.functors = problem.str();
  kernel.threads =
      unsigned(std::min<int64_t>(1024, (op.hidden() + 31) / 32 * 32));
  kernel.smemBytes = unsigned(smem);
  Emission made;
  made.steps.push_back(kernel.finish("lstm", kernel.types(), "",
                                     "  lstm<Problem>(p, smem);\n",
                                     {directions * x.shape[1]}));
  made.report = "one block per direction and sequence, all steps in one launch";
  return made;
}
