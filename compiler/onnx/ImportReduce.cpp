// SPDX-License-Identifier: Apache-2.0
// Reductions and scans.
#include "compiler/onnx/Operators.h"
#include <limits>

using namespace dlc;

namespace dlc {

namespace {
struct Reduction {
  std::vector<int64_t> axes; ///< empty: nothing is reduced
  bool keepDims = true;
};
} // namespace

/// Axes from the attribute, or from input 1 where the operator's version has
/// it: absent or empty means all, or none with noop_with_empty_axes.
static Reduction readAxes(NodeReader &n, bool fromInput) {
  Reduction r;
  int64_t rank = n.input(0)->type().rank();
  r.keepDims = n.flag("keepdims", true);
  bool noop = fromInput && n.flag("noop_with_empty_axes", false);
  if (!fromInput) {
    r.axes = n.integers("axes");
  } else if (n.hasInput(1)) {
    if (std::optional<std::vector<int64_t>> axes = n.ints(1, "axes"))
      r.axes = *axes;
  }
  r.axes = n.normalizeAxes(r.axes, rank, "axes");
  if (r.axes.empty() && !noop)
    r.axes = countingAxes(0, rank);
  llvm::sort(r.axes);
  return r;
}

static bool readsAxesFromInput(NodeReader &n) {
  return n.opset() >= (n.opType() == "ReduceSum" ? 13 : 18);
}

/// The last step: nothing happens over no axes.
static Value *reduce(NodeBuilder &b, Value *x, ReduceKind kind,
                     const Reduction &r) {
  return r.axes.empty() ? x : b.reduce(x, kind, r.axes, r.keepDims);
}

void importReduceSum(NodeReader &n, NodeBuilder &b) {
  Reduction r = readAxes(n, readsAxesFromInput(n));
  n.result(reduce(b, n.input(0), ReduceKind::Sum, r));
}
void importReduceProd(NodeReader &n, NodeBuilder &b) {
  Reduction r = readAxes(n, readsAxesFromInput(n));
  n.result(reduce(b, n.input(0), ReduceKind::Prod, r));
}
void importReduceMax(NodeReader &n, NodeBuilder &b) {
  Reduction r = readAxes(n, readsAxesFromInput(n));
  bool isBool = n.input(0)->type().element == DataType::Bool;
  n.result(
      reduce(b, n.input(0), isBool ? ReduceKind::Any : ReduceKind::Max, r));
}
void importReduceMin(NodeReader &n, NodeBuilder &b) {
  Reduction r = readAxes(n, readsAxesFromInput(n));
  bool isBool = n.input(0)->type().element == DataType::Bool;
  n.result(
      reduce(b, n.input(0), isBool ? ReduceKind::All : ReduceKind::Min, r));
}

void importReduceMean(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  Reduction r = readAxes(n, readsAxesFromInput(n));
  const DataType type = x->type().element;
  // A mean lies between its numbers, their sum may not.
  Value *wide = isInteger(type) && bitWidth(type) < 64
                    ? b.cast(x, DataType::I64)
                    : b.widen(x);
  Value *y = r.axes.empty() ? x : b.mean(wide, r.axes, r.keepDims);
  n.result(b.cast(y, type));
}

/// Reductions with something done before or after, in f32 or wider; integers
/// stay integers where only sums and products are needed.
template <class Before, class After>
static void around(NodeReader &n, NodeBuilder &b, bool needsFloat,
                   Before before, After after) {
  Value *x = n.input(0);
  DataType type = x->type().element;
  Reduction r = readAxes(n, readsAxesFromInput(n));
  Value *wide = b.widen(x);
  if (needsFloat && !isFloat(type))
    wide = b.cast(x, bitWidth(type) > 32 ? DataType::F64 : DataType::F32);
  if (!wide)
    return;
  Value *y = after(reduce(b, before(wide), ReduceKind::Sum, r));
  n.result(b.cast(y, type));
}
static Value *same(Value *x) { return x; }

void importReduceL1(NodeReader &n, NodeBuilder &b) {
  around(
      n, b, false, [&](Value *x) { return b.emit<AbsOp>(x); }, same);
}
void importReduceL2(NodeReader &n, NodeBuilder &b) {
  around(
      n, b, true, [&](Value *x) { return b.mul(x, x); },
      [&](Value *x) { return b.emit<SqrtOp>(x); });
}
void importReduceSumSquare(NodeReader &n, NodeBuilder &b) {
  around(
      n, b, false, [&](Value *x) { return b.mul(x, x); }, same);
}
void importReduceLogSum(NodeReader &n, NodeBuilder &b) {
  around(n, b, true, same, [&](Value *x) { return b.emit<LogOp>(x); });
}

/// m + log(sum(e^(x - m))) with m the maximum, or 0 where that is infinite.
void importReduceLogSumExp(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  DataType type = x->type().element;
  Reduction r = readAxes(n, readsAxesFromInput(n));
  Value *wide = isFloat(type) ? b.widen(x) : b.cast(x, DataType::F64);
  if (!wide)
    return;
  if (r.axes.empty())
    return n.result(x); // log(e^x)
  Value *most = b.reduce(wide, ReduceKind::Max, r.axes);
  most = b.select(b.emit<IsInfOp>(most), b.like(wide, 0), most);
  Value *sum =
      b.reduce(b.emit<ExpOp>(b.sub(wide, most)), ReduceKind::Sum, r.axes);
  Value *y = b.add(most, b.emit<LogOp>(sum));
  if (!y)
    return;
  std::vector<Dim> shape;
  for (int64_t i = 0; i < x->type().rank(); ++i)
    if (!llvm::is_contained(r.axes, i))
      shape.push_back(x->type().shape[i]);
  n.result(b.cast(r.keepDims ? y : b.reshape(y, shape), type));
}

static void importArg(NodeReader &n, NodeBuilder &b, ArgReduceKind kind) {
  Value *x = n.input(0);
  int64_t axis = n.axis("axis", 0, x->type().rank());
  bool keepDims = n.flag("keepdims", true);
  bool last = n.opset() >= 12 && n.flag("select_last_index", false);
  n.result(b.emit<ArgReduceOp>(x, kind, axis, keepDims, last));
}
void importArgMax(NodeReader &n, NodeBuilder &b) {
  importArg(n, b, ArgReduceKind::Max);
}
void importArgMin(NodeReader &n, NodeBuilder &b) {
  importArg(n, b, ArgReduceKind::Min);
}

static void importCumulative(NodeReader &n, NodeBuilder &b,
                             CumulativeKind kind) {
  Value *x = n.input(0);
  std::optional<std::vector<int64_t>> axis = n.ints(1, "axis");
  bool exclusive = n.flag("exclusive", false),
       reverse = n.flag("reverse", false);
  if (!axis)
    return;
  if (axis->size() != 1)
    return n.error("input 1 (axis) has " + llvm::Twine(axis->size()) +
                   " values, expected one");
  int64_t along = n.normalizeAxis((*axis)[0], x->type().rank(), "axis");
  n.result(b.emit<CumulativeOp>(x, kind, along, exclusive, reverse));
}
void importCumSum(NodeReader &n, NodeBuilder &b) {
  importCumulative(n, b, CumulativeKind::Sum);
}
void importCumProd(NodeReader &n, NodeBuilder &b) {
  importCumulative(n, b, CumulativeKind::Prod);
}

} // namespace dlc
