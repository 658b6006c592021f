// SPDX-License-Identifier: Apache-2.0
// Products with the same left operand become one:
//   act(matmul(x, W0) [+ b0]), act(matmul(x, W1) [+ b1]), ...
//     => y = act(matmul(x, [W0 W1 ...]) [+ [b0 b1 ...]]);  slices of y
// and the same for convolutions with one geometry, along their channels. W and
// b are constant; the addition may be in f32, between converts. One launch
// reads x once and fills the GPU better than several; the slices are index
// arithmetic in whoever reads them. Queries, keys and values of attention, and
// the 1x1 convolutions that inception blocks begin with, are the common cases.
#include "passes/ConstantFold.h"
#include "passes/Pass.h"
#include "passes/Values.h"

#include <map>

namespace dlc {

namespace {
/// A product, the addition of a constant per column that alone reads it, and
/// what is done to each element of the sum.
struct Branch {
  Op *product = nullptr;
  int64_t columns = 0;
  Op *add = nullptr;                ///< null: none
  Value *bias = nullptr;            ///< of `add`
  llvm::SmallVector<Op *, 2> steps; ///< one operand that is no constant each
  Value *result = nullptr;          ///< after the last step
};

} // namespace

/// The only op that reads the value; null if there is no such.
static Op *soleUser(Value *value) {
  return !value->isOutput() && value->uses().size() == 1 ? value->uses()[0].op
                                                         : nullptr;
}

/// Slices begin at multiples of this many elements, so that 16-byte copies of
/// them stay aligned.
static constexpr int64_t kAlignedColumns = 8;

static bool isConv(const Op &op) { return op.kind() == OpKind::Conv; }

/// The dimension of the result that counts columns.
static int64_t columnAxis(const Op &product) {
  return isConv(product) ? 1 : product.result()->type().rank() - 1;
}

/// Does another op of its kind read its left operand?
static bool hasPartner(const Op &product) {
  return llvm::any_of(product.operand(0)->uses(), [&](const Use &use) {
    return use.op != &product && use.op->kind() == product.kind() &&
           use.index == 0;
  });
}

/// How the product reads its operands; nothing if it cannot be joined.
static std::optional<std::vector<int64_t>> geometryOf(Op &op,
                                                      PassContext &context) {
  std::vector<int64_t> key;
  auto append = [&](const std::vector<int64_t> &values) {
    key.insert(key.end(), values.begin(), values.end());
  };
  if (op.kind() != OpKind::MatMul && !isConv(op))
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
  if (auto matmul = llvm::dyn_cast<MatMulOp>(&op)) {
    if (matmul.rhs()->type().rank() != 2 || matmul.transposeRhs() ||
        matmul.resultType()) {
      context.decline(op, "its weights are no plain matrix");
      return std::nullopt;
    }
    return std::vector<int64_t>{0, matmul.transposeLhs(), matmul.tf32()};
  }
  ConvOp conv(&op);
  if (conv.groups() != 1 || conv.resultType()) {
    context.decline(op, "its groups, or the type of its sums, are its own");
    return std::nullopt;
  }
  key = {1, conv.tf32()};
  for (const Dim &d : llvm::drop_begin(conv.filter()->type().shape))
    key.push_back(d.constant());
  append(conv.strides());
  append(conv.padLow());
  append(conv.padHigh());
  append(conv.dilations());
  return key;
}

/// The shape of one number for each column, of the result's rank or a vector.
static Shape columnShape(const Branch &b) {
  if (!isConv(*b.product))
    return {Dim(b.columns)};
  Shape shape(size_t(b.product->result()->type().rank()), Dim(1));
  shape[1] = b.columns;
  return shape;
}

/// The constant that `add` adds to each column of `sum`, or null; says why.
static Value *biasOf(Op &add, const Value *sum, const Branch &b,
                     match::Why &why) {
  auto isPerColumn = [&](Value *value) {
    // Leading ones say nothing.
    auto trim = [](llvm::ArrayRef<Dim> dims) {
      return dims.drop_while([](const Dim &d) { return d.isConstant(1); });
    };
    const Shape shape = columnShape(b);
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

/// Follows the elements of the product: a bias, between converts or not, then
/// ops with one number as their other operand. Says why an addition is no bias.
static void follow(Branch &b, match::Why &why) {
  b.result = b.product->result();
  Value *sum = b.result;
  Op *user = soleUser(sum);
  const bool widened = user && user->kind() == OpKind::Convert;
  if (widened) {
    sum = user->result();
    user = soleUser(sum);
  }
  if (user && user->kind() == OpKind::Add &&
      user->result()->type() == sum->type())
    if (Value *bias = biasOf(*user, sum, b, why)) {
      // What is stored is narrow again.
      Op *last = widened ? soleUser(user->result()) : user;
      if (last && (!widened || (last->kind() == OpKind::Convert &&
                                last->result()->type() == b.result->type()))) {
        b.add = user;
        b.bias = bias;
        b.result = last->result();
      }
    }
  while (Op *step = soleUser(b.result)) {
    const bool ofNumbers =
        step->hasTrait(OpTrait::Pointwise) && step->numResults() == 1 &&
        step->result()->type() == b.result->type() &&
        llvm::all_of(step->operands(), [&](const Value *operand) {
          return operand == b.result ||
                 (operand && isConstantValue(operand) &&
                  operand->type().elementCount().isConstant(1));
        });
    if (!ofNumbers)
      return;
    b.steps.push_back(step);
    b.result = step->result();
  }
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

/// How many of their first steps are the same.
static size_t sameSteps(const Branch &a, const Branch &b) {
  size_t i = 0;
  while (i < a.steps.size() && i < b.steps.size() &&
         isSameStep(*a.steps[i], *b.steps[i]))
    ++i;
  return i;
}

/// Would what reads the result have been part of the product's kernel, and be a
/// kernel of its own if it read a slice?
static bool losesEpilogue(const Branch &b) {
  return isConv(*b.product) &&
         llvm::any_of(b.result->uses(), [](const Use &use) {
           return use.op->hasTrait(OpTrait::Pointwise);
         });
}

/// The branches as their columns lie side by side. What a join begins with goes
/// last and what it ends with first: then elide-concat can let the join go on
/// where these columns end.
static llvm::SmallVector<const Branch *, 4>
columnOrder(llvm::ArrayRef<Branch> branches) {
  auto isBranch = [&](const Value *value) {
    return llvm::any_of(branches,
                        [&](const Branch &b) { return b.result == value; });
  };
  auto place = [&](const Branch &b) {
    for (const Use &use : b.result->uses()) {
      auto concat = llvm::dyn_cast<ConcatOp>(use.op);
      if (!concat || concat.axis() != columnAxis(*b.product))
        continue;
      const int index = int(use.index), count = int(concat.inputs().size());
      if (llvm::all_of(concat.inputs().take_front(use.index), isBranch))
        return 1 + index;
      if (llvm::all_of(concat.inputs().drop_front(use.index), isBranch))
        return index - count;
    }
    return 0;
  };
  llvm::SmallVector<const Branch *, 4> order;
  for (const Branch &b : branches)
    order.push_back(&b);
  llvm::stable_sort(order, [&](const Branch *a, const Branch *b) {
    return place(*a) < place(*b);
  });
  return order;
}

/// Where the first product stands: x is known there, and weights are constants.
static void fuse(llvm::ArrayRef<Branch> branches, Rewriter &rewriter) {
  const Branch &first = branches.front();
  Builder &builder = rewriter.at(first.product);
  std::vector<Location> places;
  for (const Branch &b : branches) {
    places.push_back(b.product->location());
    if (b.add)
      places.push_back(b.add->location());
    for (const Op *step : b.steps)
      places.push_back(step->location());
  }
  builder.location = Location::join(places);
  llvm::SmallVector<Value *, 4> weights, biases;
  // Biases are added in the widest type that one of them has.
  std::optional<DataType> sum;
  for (const Branch &b : branches)
    if (b.add && (!sum || bitWidth(b.bias->type().element) > bitWidth(*sum)))
      sum = b.bias->type().element;
  const bool conv = isConv(*first.product);
  const llvm::SmallVector<const Branch *, 4> order = columnOrder(branches);
  for (const Branch *branch : order) {
    const Branch &b = *branch;
    // Constants have no operands: a copy may stand anywhere.
    weights.push_back(builder.constant(*constantOf(b.product->operand(1))));
    if (!sum)
      continue;
    const Shape shape = columnShape(b);
    Value *bias = builder.constant(
        b.add ? convertConstant(*constantOf(b.bias), *sum)
              : Constant::splat(TensorType(*sum, shape), -0.0));
    if (bias->type().shape != shape)
      bias = builder.create<ReshapeOp>(bias, shape).result();
    biases.push_back(bias);
  }
  Value *joined =
      builder.create<ConcatOp>(weights, int64_t(conv ? 0 : 1)).result();
  Value *y = nullptr;
  if (conv) {
    ConvOp op = llvm::cast<ConvOp>(first.product);
    y = builder
            .create<ConvOp>(op.input(), joined, op.strides(), op.padLow(),
                            op.padHigh(), op.dilations(), op.groups(),
                            std::nullopt, op.tf32())
            .result();
  } else {
    MatMulOp op = llvm::cast<MatMulOp>(first.product);
    y = builder
            .create<MatMulOp>(op.lhs(), joined, op.transposeLhs(), false,
                              std::nullopt, op.tf32())
            .result();
  }
  if (sum) {
    DataType stored = y->type().element;
    if (*sum != stored)
      y = builder.create<ConvertOp>(y, *sum).result();
    y = builder
            .create<AddOp>(
                y, builder.create<ConcatOp>(biases, int64_t(conv ? 1 : 0))
                       .result())
            .result();
    if (*sum != stored)
      y = builder.create<ConvertOp>(y, stored).result();
  }
  for (const Op *step : first.steps) {
    Op *copy = step->clone([&](Value *operand) {
      return isConstantValue(operand) ? builder.constant(*constantOf(operand))
                                      : y;
    });
    copy->setLocation(builder.location);
    y = builder.insert(copy)->result();
  }
  const int64_t axis = columnAxis(*first.product);
  int64_t start = 0;
  for (const Branch *branch : order) {
    const Branch &b = *branch;
    const TensorType &type = y->type();
    std::vector<Dim> starts(size_t(type.rank()), 0);
    std::vector<Dim> sizes(type.shape.begin(), type.shape.end());
    std::vector<int64_t> steps(size_t(type.rank()), 1);
    starts[size_t(axis)] = start;
    sizes[size_t(axis)] = b.columns;
    Value *part = builder.create<SliceOp>(y, starts, sizes, steps).result();
    rewriter.replaceValue(b.result, part);
    start += b.columns;
  }
}

/// The branches that become one with the first of them, taken out of `all`.
/// Those of matmuls do, without the steps in which they differ: what reads a
/// slice of a matrix reads it as it lies.
static llvm::SmallVector<Branch, 4>
takeAlike(llvm::SmallVectorImpl<Branch> &all) {
  llvm::SmallVector<Branch, 4> alike{all.front()}, others;
  size_t steps = alike.front().steps.size();
  for (const Branch &b : llvm::drop_begin(all)) {
    const size_t same = sameSteps(alike.front(), b);
    if (isConv(*b.product) &&
        (same < b.steps.size() || same < alike.front().steps.size())) {
      others.push_back(b);
      continue;
    }
    steps = std::min(steps, same);
    alike.push_back(b);
  }
  for (Branch &b : alike)
    while (b.steps.size() > steps) {
      Op *step = b.steps.pop_back_val();
      b.result = *llvm::find_if(step->operands(), [](const Value *operand) {
        return !isConstantValue(operand);
      });
    }
  all = std::move(others);
  return alike;
}

static bool fuseGraph(Graph &graph, PassContext &context) {
  // In the order of the graph.
  std::vector<llvm::SmallVector<Branch, 4>> groups;
  std::map<std::pair<Value *, std::vector<int64_t>>, size_t> indices;
  for (Op &op : graph) {
    std::optional<std::vector<int64_t>> geometry = geometryOf(op, context);
    if (!geometry)
      continue;
    Branch b;
    b.product = &op;
    b.columns = op.result()->type().dim(columnAxis(op)).constant();
    if (b.columns % kAlignedColumns) {
      context.decline(op, "its columns are no multiple of 8");
      continue;
    }
    match::Why why = context.why();
    follow(b, why);
    if (losesEpilogue(b)) {
      context.decline(op, why.preface("what reads it belongs into its kernel"));
      continue;
    }
    auto [it, isNew] =
        indices.try_emplace({op.operand(0), *geometry}, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back(std::move(b));
  }
  Rewriter rewriter(graph);
  for (auto &group : groups)
    while (group.size() > 1)
      if (llvm::SmallVector<Branch, 4> alike = takeAlike(group);
          alike.size() > 1)
        fuse(alike, rewriter);
  rewriter.eraseDeadOps();
  return rewriter.changed();
}

llvm::Expected<bool> runFuseHorizontal(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module,
               [&](Graph &graph) { changed |= fuseGraph(graph, context); });
  return changed;
}

} // namespace dlc
