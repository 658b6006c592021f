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
#include "passes/ProductBranch.h"
#include "passes/Values.h"

#include <map>

namespace dlc {

using Branches = llvm::SmallVector<ProductBranch, 4>;
/// Branches as their columns lie side by side.
using Columns = llvm::SmallVector<const ProductBranch *, 4>;

/// What a join begins with goes last and what it ends with first: then
/// elide-concat can let the join go on where these columns end.
static Columns orderColumns(llvm::ArrayRef<ProductBranch> branches) {
  auto isBranch = [&](const Value *value) {
    return llvm::any_of(
        branches, [&](const ProductBranch &b) { return b.result == value; });
  };
  auto place = [&](const ProductBranch &b) {
    for (const Use &use : b.result->uses()) {
      auto concat = llvm::dyn_cast<ConcatOp>(use.op);
      if (!concat || concat.axis() != b.columnAxis())
        continue;
      const int index = int(use.index), count = int(concat.inputs().size());
      if (llvm::all_of(concat.inputs().take_front(use.index), isBranch))
        return 1 + index;
      if (llvm::all_of(concat.inputs().drop_front(use.index), isBranch))
        return index - count;
    }
    return 0;
  };
  Columns order;
  for (const ProductBranch &b : branches)
    order.push_back(&b);
  llvm::stable_sort(order, [&](const ProductBranch *a, const ProductBranch *b) {
    return place(*a) < place(*b);
  });
  return order;
}

static Location joinLocations(llvm::ArrayRef<ProductBranch> branches) {
  std::vector<Location> places;
  for (const ProductBranch &b : branches) {
    places.push_back(b.product->location());
    if (b.add)
      places.push_back(b.add->location());
    for (const Op *step : b.steps)
      places.push_back(step->location());
  }
  return Location::join(places);
}

/// The op again, with operands that `map` gives.
static Value *copyOf(const Op &op, Builder &builder,
                     llvm::function_ref<Value *(Value *)> map) {
  Op *copy = op.clone(map);
  copy->setLocation(builder.location);
  copy->result()->name.clear(); // of a narrower value
  return builder.insert(copy)->result();
}

/// Constants have no operands: a copy may stand anywhere.
static Value *copyConstant(const Value *value, Builder &builder) {
  return builder.constant(*constantOf(value));
}

/// The product with the weights of all.
static Value *joinProducts(const Op &first, const Columns &columns,
                           Builder &builder) {
  llvm::SmallVector<Value *, 4> weights;
  for (const ProductBranch *b : columns)
    weights.push_back(copyConstant(b->product->operand(1), builder));
  const int64_t axis = columns[0]->isConv() ? 0 : 1;
  Value *joined = builder.create<ConcatOp>(weights, axis).result();
  return copyOf(first, builder, [&](Value *operand) {
    return operand == first.operand(1) ? joined : operand;
  });
}

/// The widest type that a bias is added in; nothing if there is none.
static std::optional<DataType> sumType(const Columns &columns) {
  std::optional<DataType> sum;
  for (const ProductBranch *b : columns)
    if (b->add && (!sum || bitWidth(b->bias->type().element) > bitWidth(*sum)))
      sum = b->bias->type().element;
  return sum;
}

/// One number for each column; -0 where a branch has no bias.
static Value *joinBiases(const Columns &columns, DataType sum,
                         Builder &builder) {
  llvm::SmallVector<Value *, 4> biases;
  for (const ProductBranch *b : columns) {
    const Shape shape = b->columnShape();
    Value *bias = builder.constant(
        b->add ? convertConstant(*constantOf(b->bias), sum)
               : Constant::splat(TensorType(sum, shape), -0.0));
    if (bias->type().shape != shape)
      bias = builder.create<ReshapeOp>(bias, shape).result();
    biases.push_back(bias);
  }
  const int64_t axis = columns[0]->isConv() ? 1 : 0;
  return builder.create<ConcatOp>(biases, axis).result();
}

static Value *addBiases(Value *y, const Columns &columns, Builder &builder) {
  const std::optional<DataType> sum = sumType(columns);
  if (!sum)
    return y;
  const DataType stored = y->type().element;
  if (*sum != stored)
    y = builder.create<ConvertOp>(y, *sum).result();
  y = builder.create<AddOp>(y, joinBiases(columns, *sum, builder)).result();
  if (*sum != stored)
    y = builder.create<ConvertOp>(y, stored).result();
  return y;
}

static Value *sliceOf(Value *y, int64_t axis, int64_t start, int64_t size,
                      Builder &builder) {
  const TensorType &type = y->type();
  std::vector<Dim> starts(size_t(type.rank()), 0);
  std::vector<Dim> sizes(type.shape.begin(), type.shape.end());
  const std::vector<int64_t> steps(size_t(type.rank()), 1);
  starts[size_t(axis)] = start;
  sizes[size_t(axis)] = size;
  return builder.create<SliceOp>(y, starts, sizes, steps).result();
}

/// Where the first product stands: x is known there, and weights are constants.
static void fuse(llvm::ArrayRef<ProductBranch> branches, Rewriter &rewriter) {
  const ProductBranch &first = branches.front();
  Builder &builder = rewriter.at(first.product);
  builder.location = joinLocations(branches);
  const Columns columns = orderColumns(branches);
  Value *y = joinProducts(*first.product, columns, builder);
  y = addBiases(y, columns, builder);
  for (const Op *step : first.steps)
    y = copyOf(*step, builder, [&](Value *operand) {
      return isConstantValue(operand) ? copyConstant(operand, builder) : y;
    });
  int64_t start = 0;
  for (const ProductBranch *b : columns) {
    rewriter.replaceValue(
        b->result, sliceOf(y, b->columnAxis(), start, b->columns, builder));
    start += b->columns;
  }
}

/// The branches that become one with the first of them, taken out of `all`.
/// Those of matmuls do, without the steps in which they differ: what reads a
/// slice of a matrix reads it as it lies.
static Branches takeAlike(Branches &all) {
  Branches alike{all.front()}, others;
  size_t steps = alike.front().steps.size();
  for (const ProductBranch &b : llvm::drop_begin(all)) {
    const size_t same = countSameSteps(alike.front(), b);
    if (b.isConv() &&
        (same < b.steps.size() || same < alike.front().steps.size())) {
      others.push_back(b);
      continue;
    }
    steps = std::min(steps, same);
    alike.push_back(b);
  }
  for (ProductBranch &b : alike)
    b.dropSteps(steps);
  all = std::move(others);
  return alike;
}

/// The branches that read one operand with one geometry, in the order of the
/// graph.
static std::vector<Branches> groupBranches(Graph &graph, PassContext &context) {
  std::vector<Branches> groups;
  std::map<std::pair<Value *, ProductGeometry>, size_t> indices;
  for (Op &op : graph) {
    const std::optional<ProductGeometry> geometry = geometryOf(op, context);
    if (!geometry)
      continue;
    const std::optional<ProductBranch> branch = branchAt(op, context);
    if (!branch)
      continue;
    auto [it, isNew] =
        indices.try_emplace({op.operand(0), *geometry}, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back(*branch);
  }
  return groups;
}

static bool fuseGraph(Graph &graph, PassContext &context) {
  std::vector<Branches> groups = groupBranches(graph, context);
  Rewriter rewriter(graph);
  for (Branches &group : groups)
    while (group.size() > 1)
      if (Branches alike = takeAlike(group); alike.size() > 1)
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
