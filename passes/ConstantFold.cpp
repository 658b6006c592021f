// SPDX-License-Identifier: Apache-2.0
// Evaluates ops of constants. Integer arithmetic on shapes becomes dimension
// expressions, so that whole shape subgraphs vanish.
#include "passes/ConstantFold.h"

#include "ir/ShapeValue.h"
#include "ir/reference/Evaluator.h"
#include "passes/Pass.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace dlc {

// Folding may not make a model larger than this over what it folds.
static constexpr int64_t kFreeBytes = 64 << 10;
// The reference evaluator does some 100 M operations a second.
static constexpr int64_t kMaxElements = 16 << 20;
static constexpr int64_t kMaxMultiplications = 50'000'000;

template <class T>
static bool holdsBits(llvm::ArrayRef<uint8_t> raw, T magnitude, T pattern) {
  for (size_t i = 0; i + sizeof(T) <= raw.size(); i += sizeof(T)) {
    T bits;
    std::memcpy(&bits, raw.data() + i, sizeof(T));
    if (T(bits & magnitude) == pattern)
      return true;
  }
  return false;
}

static bool hasInfinity(const Constant &c) {
  llvm::ArrayRef<uint8_t> raw = c.rawBytes();
  switch (c.type().element) {
  case DataType::F64:
    return holdsBits<uint64_t>(raw, 0x7fffffffffffffff, 0x7ff0000000000000);
  case DataType::F32:
    return holdsBits<uint32_t>(raw, 0x7fffffff, 0x7f800000);
  case DataType::F16:
    return holdsBits<uint16_t>(raw, 0x7fff, 0x7c00);
  case DataType::BF16:
    return holdsBits<uint16_t>(raw, 0x7fff, 0x7f80);
  case DataType::F8E5M2:
    return holdsBits<uint8_t>(raw, 0x7f, 0x7c);
  default:
    return false;
  }
}

static int64_t bytesOf(const TensorType &type) {
  return byteSize(type.element, type.elementCount().constant());
}

// Multiplications of a contraction or window; 0 for other ops.
static int64_t work(const Op &op) {
  if (op.kind() != OpKind::MatMul && op.kind() != OpKind::Conv &&
      op.kind() != OpKind::ConvTranspose && op.kind() != OpKind::Pool)
    return 0;
  int64_t result = op.result()->type().elementCount().constant();
  int64_t operand = op.operand(0)->type().elementCount().constant();
  return result > 0 && operand > kMaxMultiplications / result
             ? kMaxMultiplications + 1
             : result * operand;
}

// The value of `op`, an integer tensor, as dimension expressions.
static bool foldShape(Op *op, Rewriter &rewriter) {
  Value *result = op->result();
  DataType element = result->type().element;
  if (!isInteger(element) || bitWidth(element) < 32)
    return false;
  if (op->kind() == OpKind::Cast && op->operand(0)->definingOp() &&
      op->operand(0)->definingOp()->kind() == OpKind::Dims &&
      !constantDims(DimsOp(op->operand(0)->definingOp()).values()))
    return false;
  std::optional<std::vector<Dim>> dims = shapeValue(result);
  if (!dims)
    return false;
  std::optional<std::vector<int64_t>> constants = constantDims(*dims);
  if (constants && result->type().isStatic()) {
    Constant value =
        Constant::fromInts(result->type().withLayout({}), *constants);
    rewriter.replace(op, rewriter.at(op).constant(value));
    return true;
  }
  if (op->kind() == OpKind::Dims || result->type().rank() > 1)
    return false;
  Builder &builder = rewriter.at(op);
  Value *with =
      builder.create<DimsOp>(*dims, result->type().rank() == 0).result();
  if (element != DataType::I64)
    with = builder.create<CastOp>(with, element).result();
  if (with->type() != result->type())
    return false;
  rewriter.replace(op, with);
  return true;
}

static std::optional<Constant>
evaluateConstant(Op *op, llvm::ArrayRef<std::optional<Constant>> operands,
                 PassContext &context) {
  if (op->numOperands() == 1 && op->hasTrait(OpTrait::View))
    if (std::optional<Constant> folded = foldView(*op, *operands[0]))
      return folded;
  const TensorType &type = op->result()->type();
  if ((op->kind() == OpKind::Convert || op->kind() == OpKind::Cast) &&
      isFloat(type.element) && isFloat(operands[0]->type().element))
    return convertConstant(*operands[0], type.element);

  std::vector<reference::Tensor> tensors;
  std::vector<const reference::Tensor *> inputs;
  tensors.reserve(operands.size());
  for (const std::optional<Constant> &operand : operands) {
    if (operand)
      tensors.push_back(reference::Tensor::fromConstant(*operand));
    inputs.push_back(operand ? &tensors.back() : nullptr);
  }
  llvm::Expected<std::vector<reference::Tensor>> results =
      reference::evaluateOp(*op, inputs, reference::Precision::AsTyped, {});
  if (!results) {
    context.decline(*op, llvm::toString(results.takeError()));
    return std::nullopt;
  }
  return results->front().toConstant();
}

// A result without elements is known whatever its operands are.
static bool foldEmpty(Op *op, Rewriter &rewriter) {
  const TensorType &type = op->result()->type();
  if (!type.elementCount().isConstant(0) || !type.layout.isRowMajor())
    return false;
  rewriter.replace(op, rewriter.at(op).constant(Constant::fromBytes(type, {})));
  return true;
}

bool foldOp(Op *op, Rewriter &rewriter, PassContext &context) {
  if (!op->hasTrait(OpTrait::Pure) || op->numResults() != 1 ||
      op->numRegions() != 0 || op->kind() == OpKind::Constant)
    return false;
  if (foldShape(op, rewriter))
    return true;
  if (op->kind() == OpKind::Dims || !op->result()->type().isStatic())
    return false;
  if (foldEmpty(op, rewriter))
    return true;

  llvm::SmallVector<std::optional<Constant>, 3> operands;
  int64_t operandBytes = 0;
  bool splats = true;
  for (Value *operand : op->operands()) {
    operands.push_back(constantOf(operand));
    if (operand && !operands.back())
      return false;
    if (!operand)
      continue;
    operandBytes += bytesOf(operand->type());
    splats &= operands.back()->isSplat();
  }
  const TensorType &type = op->result()->type();
  bool free = splats && op->numOperands() == 1 && op->hasTrait(OpTrait::View) &&
              op->kind() != OpKind::Pad;
  if (!free && bytesOf(type) > operandBytes + kFreeBytes) {
    context.decline(*op, "the result is larger than its operands by more than "
                         "64 KiB");
    return false;
  }
  if (!op->hasTrait(OpTrait::View) && op->kind() != OpKind::Convert &&
      (type.elementCount().constant() > kMaxElements ||
       work(*op) > kMaxMultiplications)) {
    context.decline(*op, "too large to evaluate while compiling");
    return false;
  }
  if (!reference::isFoldable(*op)) {
    context.decline(*op, "machines differ in the last bit of its result");
    return false;
  }
  std::optional<Constant> value = evaluateConstant(op, operands, context);
  if (!value)
    return false;
  if (!op->hasTrait(OpTrait::View) && hasInfinity(*value) &&
      llvm::none_of(operands, [](const std::optional<Constant> &operand) {
        return operand && hasInfinity(*operand);
      })) {
    context.decline(*op, "finite operands would give an infinite constant");
    return false;
  }
  Value *constant = rewriter.at(op).constant(*value);
  if (constant->type() != type) {
    rewriter.erase(constant->definingOp());
    return false;
  }
  rewriter.replace(op, constant);
  return true;
}

llvm::Expected<bool> runConstantFold(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    // Operands come before their users, so once through is enough.
    for (Op &op : llvm::make_early_inc_range(graph.ops()))
      changed |= foldOp(&op, rewriter, context);
  });
  return changed;
}

} // namespace dlc
