// SPDX-License-Identifier: Apache-2.0
// Unique, of all elements.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

/// The elements sorted, those that differ from the one before them are first of
/// their kind. Equal ones keep their order, so that the first has the lowest
/// index.
void importUnique(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  bool sorted = n.flag("sorted", true);
  bool hasAxis = n.has("axis");
  if (hasAxis)
    n.axis("axis", 0, x->type().rank());
  if (n.failed())
    return;
  if (hasAxis && x->type().rank() != 1)
    return n.error("attribute \"axis\" is given for " + x->type().str() +
                   ", supported are vectors and all elements at once");
  Dim size = x->type().elementCount();
  x = b.reshape(x, {size});
  TopKOp order = b.emitOp<TopKOp>(x, std::vector<Dim>{size}, 0,
                                  /*largest=*/false, /*sorted=*/true);
  if (!order)
    return;
  Value *values = order.values(), *from = order.indices();
  Value *zero = b.scalar(DataType::I64, 0), *one = b.scalar(DataType::I64, 1);
  Value *counting = b.emit<IotaOp>(std::vector<Dim>{size}, 0, DataType::I64);
  Value *before =
      b.emit<GatherOp>(values, b.max(b.sub(counting, one), zero), 0);
  Value *isFirst = b.emit<OrOp>(b.emit<EqualOp>(counting, zero),
                                b.emit<NotOp>(b.emit<EqualOp>(values, before)));
  // The number of its kind, for each element in order, then in its place.
  auto number = [&](Value *first) {
    return b.sub(b.emit<CumulativeOp>(b.cast(first, DataType::I64),
                                      CumulativeKind::Sum, 0),
                 one);
  };
  Value *none = b.broadcast(zero, {size});
  auto scatter = [&](Value *index, Value *updates,
                     ScatterReduction reduction = ScatterReduction::None) {
    return b.emit<ScatterElementsOp>(none, index, updates, 0, reduction);
  };
  Value *kind = number(isFirst);
  if (!sorted) {
    // In the order in which they come first.
    Value *places =
        b.cast(scatter(from, b.cast(isFirst, DataType::I64)), DataType::Bool);
    Value *orderOfPlaces = number(places);
    // Of several first places only that of the first one counts.
    Value *far = b.select(isFirst, from, none);
    Value *firstPlace = scatter(kind, far, ScatterReduction::Max);
    kind = b.emit<GatherOp>(orderOfPlaces,
                            b.emit<GatherOp>(firstPlace, kind, 0), 0);
    isFirst = places;
    values = x;
  }
  Value *counts =
      scatter(kind, b.broadcast(one, {size}), ScatterReduction::Add);
  Value *inverse = scatter(from, kind);
  std::string count =
      n.context.countSymbol(n.proto().output(0) + "_count", size,
                            n.context.known.isAtLeast(size, 1) ? 1 : 0);
  Value *found = b.emit<NonZeroOp>(isFirst, count);
  found = b.reshape(found, {Dim::symbol(count)});
  n.result(0, b.emit<GatherOp>(values, found, 0));
  n.result(1, sorted ? b.emit<GatherOp>(from, found, 0) : found);
  n.result(2, inverse);
  Value *ofEach = sorted ? b.emit<GatherOp>(kind, found, 0)
                         : b.emit<GatherOp>(inverse, found, 0);
  n.result(3, b.emit<GatherOp>(counts, ofEach, 0));
}

} // namespace dlc
