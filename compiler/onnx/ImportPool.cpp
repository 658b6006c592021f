// SPDX-License-Identifier: Apache-2.0
// Pooling over windows and over whole maps.
#include "compiler/onnx/Operators.h"
#include "compiler/onnx/WindowGeometry.h"
#include <cmath>
#include <limits>

using namespace dlc;

namespace dlc {

/// The windows that a pool's attributes describe over x.
static std::optional<WindowGeometry>
readPool(NodeReader &n, Value *x, bool hasDilations, bool ceilMode) {
  if (n.failed())
    return std::nullopt;
  int64_t rank = x->type().rank();
  std::vector<int64_t> kernel = n.integers("kernel_shape");
  if (rank < 3 || rank > 5 || int64_t(kernel.size()) != rank - 2) {
    n.error("input is " + x->type().str() + " and kernel_shape has " +
            llvm::Twine(kernel.size()) +
            " values, expected 1 to 3 spatial dimensions, one value each");
    return std::nullopt;
  }
  return readWindow(n, llvm::ArrayRef<Dim>(x->type().shape).drop_front(2),
                    kernel, hasDilations, ceilMode);
}

/// A pool of `x` as the node's attributes describe it.
static Value *pool(NodeReader &n, NodeBuilder &b, Value *x, PoolKind kind,
                   bool hasDilations, bool ceilMode, bool countPads) {
  std::optional<WindowGeometry> g = readPool(n, x, hasDilations, ceilMode);
  if (!g)
    return nullptr;
  auto whole = [](llvm::ArrayRef<int64_t> values, int64_t first) {
    std::vector<int64_t> all(2, first);
    all.insert(all.end(), values.begin(), values.end());
    return all;
  };
  if (!g->isFixed()) {
    if (kind == PoolKind::Average) {
      n.error("its padding depends on the symbolic size of " + x->type().str() +
              ": fix it with --shape");
      return nullptr;
    }
    // What never wins, put around first.
    std::vector<Dim> low(2), high(2);
    low.insert(low.end(), g->low.begin(), g->low.end());
    high.insert(high.end(), g->high.begin(), g->high.end());
    DataType type = x->type().element;
    double least = kind == PoolKind::Sum ? 0
                   : isFloat(type)  ? -std::numeric_limits<double>::infinity()
                   : isSigned(type) ? -std::ldexp(1.0, int(bitWidth(type)) - 1)
                                    : 0;
    x = b.emit<PadOp>(x, b.scalar(type, least), low, high);
    for (std::vector<Dim> *dims : {&g->low, &g->high, &g->ceilExtra})
      dims->assign(dims->size(), Dim(0));
  }
  std::vector<int64_t> extra = whole(WindowGeometry::numbers(g->ceilExtra), 0);
  if (llvm::all_of(extra, [](int64_t e) { return e == 0; }))
    extra.clear();
  return b.emit<PoolOp>(x, kind, whole(g->kernel, 1), whole(g->strides, 1),
                        whole(WindowGeometry::numbers(g->low), 0),
                        whole(WindowGeometry::numbers(g->high), 0),
                        whole(g->dilations, 1), countPads, extra);
}

void importMaxPool(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  bool ceilMode = n.opset() >= 10 && n.flag("ceil_mode", false);
  bool columnMajor = n.opset() >= 8 && n.flag("storage_order", false);
  n.result(0, pool(n, b, x, PoolKind::Max, n.opset() >= 10, ceilMode, false));
  if (!n.wantsResult(1))
    return;
  if (std::optional<WindowGeometry> g =
          readPool(n, x, n.opset() >= 10, ceilMode))
    n.result(1, maxPoolIndices(n, b, x, *g, columnMajor));
}

void importAveragePool(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  bool ceilMode = n.opset() >= 10 && n.flag("ceil_mode", false);
  bool countPads = n.flag("count_include_pad", false);
  n.result(
      pool(n, b, x, PoolKind::Average, n.opset() >= 19, ceilMode, countPads));
}

/// x^p of the absolute value, and the p-th root; p is 1, 2, ...
static Value *power(NodeBuilder &b, Value *x, int64_t p) {
  if (p == 2)
    return b.mul(x, x);
  Value *positive = b.emit<AbsOp>(x);
  return p == 1 || !positive
             ? positive
             : b.emit<PowOp>(positive, b.like(positive, double(p)));
}
static Value *root(NodeBuilder &b, Value *x, int64_t p) {
  if (p == 1 || !x)
    return x;
  return p == 2 ? b.emit<SqrtOp>(x)
                : b.emit<PowOp>(x, b.like(x, 1 / double(p)));
}
static int64_t readNorm(NodeReader &n) {
  int64_t p = n.integer("p", 2);
  if (p < 1)
    n.error("attribute \"p\" is " + llvm::Twine(p) +
            ", expected a positive number");
  return p;
}

void importLpPool(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t p = readNorm(n);
  bool ceilMode = n.opset() >= 18 && n.flag("ceil_mode", false);
  Value *sum = pool(n, b, power(b, b.widen(x), p), PoolKind::Sum,
                    n.opset() >= 18, ceilMode, false);
  n.result(b.cast(root(b, sum, p), x->type().element));
}

static std::vector<int64_t> spatialAxes(NodeReader &n) {
  int64_t rank = n.input(0)->type().rank();
  if (rank < 3)
    n.error("input 0 has type " + n.input(0)->type().str() +
            ", expected [N, C, ...] with a spatial dimension");
  return countingAxes(2, rank);
}

void importGlobalAveragePool(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  std::vector<int64_t> axes = spatialAxes(n);
  n.result(b.cast(b.mean(b.widen(x), axes), x->type().element));
}

void importGlobalMaxPool(NodeReader &n, NodeBuilder &b) {
  std::vector<int64_t> axes = spatialAxes(n);
  n.result(b.reduce(n.input(0), ReduceKind::Max, axes));
}

void importGlobalLpPool(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t p = readNorm(n);
  std::vector<int64_t> axes = spatialAxes(n);
  Value *sum = b.reduce(power(b, b.widen(x), p), ReduceKind::Sum, axes);
  n.result(b.cast(root(b, sum, p), x->type().element));
}

} // namespace dlc
