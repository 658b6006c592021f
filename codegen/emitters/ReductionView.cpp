// SPDX-License-Identifier: Apache-2.0
// The reductions of a unit as rows and the elements of each, pass by pass.
#include "codegen/emitters/ReductionView.h"
#include "codegen/Contraction.h"

using namespace dlc;
using namespace dlc::codegen;

static llvm::SmallVector<bool, 6> reducedDims(const ReduceOp &op,
                                              int64_t rank) {
  llvm::SmallVector<bool, 6> reduced(size_t(rank), false);
  for (int64_t axis : op.axes())
    reduced[size_t(axis < 0 ? axis + rank : axis)] = true;
  return reduced;
}

/// Sets the dimensions that the reductions have in common.
static llvm::Error findSpace(ReductionView &view) {
  for (const Op *hero : view.heroes)
    if (hero->kind() != OpKind::Reduce)
      return refuse("");
  view.operand = view.heroes[0]->operand(0);
  const TensorType &space = view.operand->type();
  view.reduced =
      reducedDims(llvm::cast<ReduceOp>(view.heroes[0]), space.rank());
  for (const Op *hero : view.heroes) {
    const TensorType &type = hero->operand(0)->type();
    if (type.shape != space.shape)
      return refuse("reductions of different shapes, " + space.str() + " and " +
                    type.str());
    if (reducedDims(llvm::cast<ReduceOp>(hero), type.rank()) != view.reduced)
      return refuse("reductions along different axes");
  }
  return llvm::Error::success();
}

/// Tells rows from the elements of each, in the order of memory.
static void splitAxes(ReductionView &view) {
  const TensorType &space = view.operand->type();
  // Of an operand as it is stored, else of the result.
  const Layout layout = space.layout.isUnsplit() ? space.layout : Layout();
  for (int64_t d : layout.order(space.rank())) {
    const Dim &extent = space.shape[d];
    if (extent.isConstant(1))
      continue;
    view.columns = !view.reduced[d];
    ReductionView::Axes &axes = view.columns ? view.rowAxes : view.reducedAxes;
    axes.dims.push_back(d);
    axes.box.push_back(extent);
  }
  view.rows = elementCount(view.rowAxes.box);
  view.size = elementCount(view.reducedAxes.box);
}

/// Counts how many reductions each value of the body comes after.
static void findPasses(ReductionView &view, const Unit &unit) {
  std::map<const Value *, unsigned> depths; // inputs are not in it
  for (const Op &op : unit.body().ops()) {
    unsigned depth = 0;
    for (const Value *v : op.operands())
      if (auto it = depths.find(v); it != depths.end())
        depth = std::max(depth, it->second);
    if (llvm::is_contained(view.heroes, &op))
      view.passOf.push_back(depth++);
    view.passes = std::max(view.passes, depth);
    for (unsigned i = 0; i < op.numResults(); i++)
      depths[op.result(i)] = depth;
  }
  for (unsigned pass = 0; pass < view.passes; pass++)
    view.widest =
        std::max(view.widest, unsigned(llvm::count(view.passOf, pass)));
}

llvm::Expected<ReductionView> codegen::viewReduction(const Unit &unit) {
  ReductionView view;
  view.heroes = unit.heroes();
  if (view.heroes.empty())
    return refuse("");
  if (llvm::Error e = findSpace(view))
    return e;
  splitAxes(view);
  findPasses(view, unit);
  for (unsigned i = 0; i < unit.numResults(); i++)
    (view.isPerRow(unit.resultType(i)) ? view.storesRows
                                       : view.storesElements) = true;
  return view;
}

Coordinates ReductionView::element(const Dim &row, const Dim &r,
                                   const Dim &lane) const {
  Coordinates at;
  at.index.assign(reduced.size(), Dim(0));
  auto place = [&at](const Axes &axes, const Dim &linear) {
    for (auto [d, index] : llvm::zip(axes.dims, delinearize(linear, axes.box)))
      at.index[d] = index;
  };
  place(rowAxes, row);
  place(reducedAxes, r);
  if (!reducedAxes.dims.empty()) {
    Dim &last = at.index[reducedAxes.dims.back()];
    last = last + lane;
  }
  return at;
}

Coordinates ReductionView::resultOf(const Op &hero,
                                    const Coordinates &element) const {
  Coordinates at;
  const bool keeps = llvm::cast<ReduceOp>(&hero).keepDims();
  for (size_t d = 0; d < reduced.size(); d++) {
    if (!reduced[d])
      at.index.push_back(element.index[d]);
    else if (keeps)
      at.index.push_back(Dim(0));
  }
  return at;
}

bool ReductionView::isPerRow(const TensorType &type) const {
  return provedEqual(type.elementCount(), rows) == Proof::Proved &&
         !size.isConstant(1);
}
