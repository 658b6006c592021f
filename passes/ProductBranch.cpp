// SPDX-License-Identifier: Apache-2.0
// What fuse-horizontal joins: products, their biases and activations.
#include "passes/ProductBranch.h"
#include "passes/Values.h"

namespace dlc {

//===--- Products ---------------------------------------------------------===//

/// Slices begin at multiples of this many elements, so that 16-byte copies of
/// them stay aligned.
static constexpr int64_t kAlignedColumns = 8;

int64_t ProductBranch::columnAxis() const {
  return isConv() ? 1 : product->result()->type().rank() - 1;
}

Shape ProductBranch::columnShape() const {
  if (!isConv())
    return {Dim(columns)};
  Shape shape(size_t(product->result()->type().rank()), Dim(1));
  shape[1] = columns;
  return shape;
}

void ProductBranch::dropSteps(size_t from) {
  while (steps.size() > from) {
    Op *step = steps.pop_back_val();
    result = *llvm::find_if(step->operands(), [](const Value *operand) {
      return !isConstantValue(operand);
    });
  }
}

/// Does another op of its kind read its left operand?
static bool hasPartner(const Op &product) {
  return llvm::any_of(product.operand(0)->uses(), [&](const Use &use) {
    return use.op != &product && use.op->kind() == product.kind() &&
           use.index == 0;
  });
}

static std::optional<ProductGeometry> geometryOf(MatMulOp matmul,
                                                 PassContext &context) {
  if (matmul.rhs()->type().rank() == 2 && !matmul.transposeRhs() &&
      !matmul.resultType())
    return ProductGeometry{0, matmul.transposeLhs(), matmul.tf32()};
  context.decline(*matmul.op(), "its weights are no plain matrix");
  return std::nullopt;
}

static std::optional<ProductGeometry> geometryOf(ConvOp conv,
                                                 PassContext &context) {
  if (conv.groups() != 1 || conv.resultType()) {
    context.decline(*conv.op(),
                    "its groups, or the type of its sums, are its own");
    return std::nullopt;
  }
  ProductGeometry geometry = {1, conv.tf32()};
  for (const Dim &d : llvm::drop_begin(conv.filter()->type().shape))
    geometry.push_back(d.constant());
  for (const auto &list :
       {conv.strides(), conv.padLow(), conv.padHigh(), conv.dilations()})
    geometry.insert(geometry.end(), list.begin(), list.end());
  return geometry;
}

std::optional<ProductGeometry> geometryOf(Op &op, PassContext &context) {
  if (op.kind() != OpKind::MatMul && op.kind() != OpKind::Conv)
    return std::nullopt;
  match::Why why = context.why();
  if (!match::match(
          &op,
          match::anyOf(match::op<MatMulOp>(match::value(), match::constant()),
                       match::op<ConvOp>(match::value(), match::constant())),
          &why)) {
    if (hasPartner(op))
      context.decline(op, why);
    return std::nullopt;
  }
  if (auto matmul = llvm::dyn_cast<MatMulOp>(&op))
    return geometryOf(matmul, context);
  return geometryOf(llvm::cast<ConvOp>(&op), context);
}

//===--- What follows a product -------------------------------------------===//

/// The only op that reads the value; null if there is no such.
static Op *soleUser(Value *value) {
  return value->hasOneUse() ? value->uses()[0].op : nullptr;
}

/// The constant that `add` adds to each column of `sum`, or null; says why.
static Value *biasOf(Op &add, const Value *sum, const ProductBranch &b,
                     match::Why &why) {
  auto isPerColumn = [&](Value *value) {
    // Leading ones say nothing.
    auto trim = [](llvm::ArrayRef<Dim> dims) {
      return dims.drop_while([](const Dim &d) { return d.isConstant(1); });
    };
    const Shape shape = b.columnShape();
    return trim(value->type().shape) == trim(shape);
  };
  Value *bias = nullptr;
  match::match(&add,
               match::commutative<AddOp>(
                   match::is(sum),
                   match::where(match::constant(bias), isPerColumn,
                                "the constant is not one number per column")),
               &why);
  return bias;
}

/// Takes the addition of a bias, between converts or not; says why an addition
/// is none.
static void followBias(ProductBranch &b, match::Why &why) {
  Value *sum = b.result;
  Op *user = soleUser(sum);
  const bool widened = user && user->kind() == OpKind::Convert;
  if (widened) {
    sum = user->result();
    user = soleUser(sum);
  }
  if (!user || user->kind() != OpKind::Add ||
      user->result()->type() != sum->type())
    return;
  Value *bias = biasOf(*user, sum, b, why);
  if (!bias)
    return;
  // What is stored is narrow again.
  Op *last = widened ? soleUser(user->result()) : user;
  if (!last || (widened && (last->kind() != OpKind::Convert ||
                            last->result()->type() != b.result->type())))
    return;
  b.add = user;
  b.bias = bias;
  b.result = last->result();
}

/// Is it computed from `value` and constants of one number?
static bool isStep(const Op &op, const Value *value) {
  return op.hasTrait(OpTrait::Pointwise) && op.numResults() == 1 &&
         op.result()->type() == value->type() &&
         llvm::all_of(op.operands(), [&](const Value *operand) {
           return operand == value ||
                  (operand && isConstantValue(operand) &&
                   operand->type().elementCount().isConstant(1));
         });
}

static void followSteps(ProductBranch &b) {
  for (Op *step = soleUser(b.result); step && isStep(*step, b.result);
       step = soleUser(b.result)) {
    b.steps.push_back(step);
    b.result = step->result();
  }
}

/// Would what reads the result have been part of the product's kernel, and be a
/// kernel of its own if it read a slice?
static bool losesEpilogue(const ProductBranch &b) {
  return b.isConv() && llvm::any_of(b.result->uses(), [](const Use &use) {
           return use.op->hasTrait(OpTrait::Pointwise);
         });
}

std::optional<ProductBranch> branchAt(Op &product, PassContext &context) {
  ProductBranch b;
  b.product = &product;
  b.result = product.result();
  b.columns = b.result->type().dim(b.columnAxis()).constant();
  if (b.columns % kAlignedColumns) {
    context.decline(product, "its columns are no multiple of 8");
    return std::nullopt;
  }
  match::Why why = context.why();
  followBias(b, why);
  followSteps(b);
  if (losesEpilogue(b)) {
    context.decline(product,
                    why.preface("what reads it belongs into its kernel"));
    return std::nullopt;
  }
  return b;
}

/// Do both do the same to an element? They are ops of one number, so their
/// other operands are constants.
static bool isSameStep(const Op &a, const Op &b) {
  if (a.kind() != b.kind() || a.numOperands() != b.numOperands() ||
      a.result()->type().element != b.result()->type().element)
    return false;
  for (unsigned i = 0; i < a.numAttributes(); ++i)
    if (a.attribute(i) != b.attribute(i))
      return false;
  for (auto [x, y] : llvm::zip(a.operands(), b.operands())) {
    std::optional<Constant> ofA = constantOf(x), ofB = constantOf(y);
    if (ofA.has_value() != ofB.has_value() || (ofA && !(*ofA == *ofB)))
      return false;
  }
  return true;
}

size_t countSameSteps(const ProductBranch &a, const ProductBranch &b) {
  size_t i = 0;
  while (i < a.steps.size() && i < b.steps.size() &&
         isSameStep(*a.steps[i], *b.steps[i]))
    ++i;
  return i;
}

} // namespace dlc
