// SPDX-License-Identifier: Apache-2.0
// Products with the same left operand become one:
//   matmul(x, W0) [+ b0], matmul(x, W1) [+ b1], ...
//     => y = matmul(x, [W0 W1 ...]) [+ [b0 b1 ...]];  slices of y
// W and b constant; the addition may be in f32, between converts. One launch
// reads x once and fills the GPU better than several; the slices are index
// arithmetic in whoever reads them. Queries, keys and values of attention are
// the common case.
#include "passes/ConstantFold.h"
#include "passes/Pass.h"
#include "passes/Values.h"

#include "llvm/ADT/MapVector.h"

namespace dlc {

namespace {
/// A product and the addition of a constant row that alone reads it.
struct Branch {
  MatMulOp matmul;
  Op *add = nullptr;     ///< null: none
  Value *bias = nullptr; ///< of `add`, rank 1
  Op *last = nullptr;    ///< the add, or the convert of its sum
  int64_t columns = 0;
  Value *result() const { return last ? last->result() : matmul.result(); }
};

/// The only op that reads the value; null if there is no such.
Op *soleUser(Value *value) {
  return !value->isOutput() && value->uses().size() == 1 ? value->uses()[0].op
                                                         : nullptr;
}
} // namespace

/// Slices begin at multiples of this many elements, so that 16-byte copies of
/// them stay aligned.
static constexpr int64_t kAlignedColumns = 8;

static std::optional<Branch> branchOf(Op *op, PassContext &context) {
  auto matmul = llvm::dyn_cast<MatMulOp>(op);
  if (!matmul || !isConstantValue(matmul.rhs()))
    return std::nullopt;
  const TensorType &weights = matmul.rhs()->type();
  if (weights.rank() != 2 || matmul.transposeRhs() || matmul.resultType()) {
    context.decline(*op, "its weights are no plain matrix");
    return std::nullopt;
  }
  Branch b;
  b.matmul = matmul;
  b.columns = weights.dim(1).constant();
  if (b.columns % kAlignedColumns) {
    context.decline(*op, "its columns are no multiple of 8");
    return std::nullopt;
  }
  Value *product = matmul.result(), *sum = product;
  Op *user = soleUser(product);
  if (user && user->kind() == OpKind::Convert) {
    sum = user->result();
    user = soleUser(sum);
  }
  if (!user || user->kind() != OpKind::Add ||
      user->result()->type() != sum->type())
    return b;
  Op *add = user, *last = user;
  if (sum != product) {
    // What is stored is narrow again.
    last = soleUser(add->result());
    if (!last || last->kind() != OpKind::Convert ||
        last->result()->type() != product->type())
      return b;
  }
  Value *other = add->operand(1 - sum->uses()[0].index);
  if (isConstantValue(other) && other->type().rank() == 1 &&
      other->type().dim(0).isConstant(b.columns)) {
    b.add = add;
    b.bias = other;
    b.last = last;
  }
  return b;
}

/// Where the first product stands: x is known there, and weights are constants.
static void fuse(llvm::ArrayRef<Branch> branches, Rewriter &rewriter) {
  const Branch &first = branches.front();
  Builder &builder = rewriter.at(first.matmul.op());
  std::vector<Location> places;
  for (const Branch &b : branches) {
    places.push_back(b.matmul.location());
    if (b.add)
      places.push_back(b.add->location());
  }
  builder.location = Location::join(places);
  llvm::SmallVector<Value *, 4> weights, biases;
  // Biases are added in the widest type that one of them has.
  std::optional<DataType> sum;
  for (const Branch &b : branches)
    if (b.add && (!sum || bitWidth(b.bias->type().element) > bitWidth(*sum)))
      sum = b.bias->type().element;
  for (const Branch &b : branches) {
    // Constants have no operands: a copy may stand anywhere.
    weights.push_back(builder.constant(*constantOf(b.matmul.rhs())));
    if (!sum)
      continue;
    biases.push_back(builder.constant(
        b.add ? convertConstant(*constantOf(b.bias), *sum)
              : Constant::splat(TensorType(*sum, {Dim(b.columns)}), -0.0)));
  }
  Value *joined = builder.create<ConcatOp>(weights, 1).result();
  Value *y = builder
                 .create<MatMulOp>(first.matmul.lhs(), joined,
                                   first.matmul.transposeLhs(), false,
                                   std::nullopt, first.matmul.tf32())
                 .result();
  if (sum) {
    DataType stored = y->type().element;
    if (*sum != stored)
      y = builder.create<ConvertOp>(y, *sum).result();
    y = builder.create<AddOp>(y, builder.create<ConcatOp>(biases, 0).result())
            .result();
    if (*sum != stored)
      y = builder.create<ConvertOp>(y, stored).result();
  }
  int64_t start = 0;
  for (const Branch &b : branches) {
    const TensorType &type = y->type();
    std::vector<Dim> starts(size_t(type.rank()), 0);
    std::vector<Dim> sizes(type.shape.begin(), type.shape.end());
    std::vector<int64_t> steps(size_t(type.rank()), 1);
    starts.back() = start;
    sizes.back() = b.columns;
    Value *part = builder.create<SliceOp>(y, starts, sizes, steps).result();
    rewriter.replaceValue(b.result(), part);
    start += b.columns;
  }
}

static bool fuseGraph(Graph &graph, PassContext &context) {
  // By left operand, in the order of the graph.
  llvm::MapVector<std::pair<Value *, unsigned>, llvm::SmallVector<Branch, 4>>
      groups;
  for (Op &op : graph)
    if (std::optional<Branch> b = branchOf(&op, context))
      groups[{b->matmul.lhs(), b->matmul.transposeLhs() + 2 * b->matmul.tf32()}]
          .push_back(*b);
  Rewriter rewriter(graph);
  for (auto &[key, branches] : groups)
    if (branches.size() > 1)
      fuse(branches, rewriter);
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
