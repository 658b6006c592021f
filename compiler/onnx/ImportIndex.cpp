// SPDX-License-Identifier: Apache-2.0
// Gathers, scatters, selections and sorting.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

/// Constant indices out of range are the model's fault, told at once.
static bool indicesInRange(NodeReader &n, unsigned i, const Dim &size) {
  std::optional<Constant> known = n.context.known.constant(n.input(i));
  if (!known || !size.isConstant() || !isInteger(known->type().element))
    return true;
  for (int64_t e = 0; e < known->elements(); ++e) {
    int64_t index = known->intAt(known->isSplat() ? 0 : e);
    if (index < -size.constant() || index >= size.constant()) {
      n.error("index " + llvm::Twine(index) +
              " is out of range for a dimension of " + size.str());
      return false;
    }
    if (known->isSplat())
      break;
  }
  return true;
}

void importGather(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *indices = n.input(1);
  int64_t axis = n.axis("axis", 0, x->type().rank());
  if (n.failed() || !indicesInRange(n, 1, x->type().shape[axis]))
    return;
  // One index that is known is a slice.
  std::optional<std::vector<Dim>> known = n.context.known.dims(indices);
  if (indices->type().rank() == 0 && known && known->size() == 1 &&
      (*known)[0].isConstant()) {
    const Dim &size = x->type().shape[axis];
    Dim at = (*known)[0].constant() < 0 ? (*known)[0] + size : (*known)[0];
    if (n.context.known.isAtLeast(at, 0) &&
        n.context.known.isAtMost(at + 1, size)) {
      std::vector<Dim> shape(x->type().shape.begin(), x->type().shape.end());
      shape.erase(shape.begin() + axis);
      return n.result(b.reshape(b.slice(x, axis, at, 1), shape));
    }
  }
  n.result(b.emit<GatherOp>(x, indices, axis));
}

void importGatherElements(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t axis = n.axis("axis", 0, x->type().rank());
  if (n.failed() || !indicesInRange(n, 1, x->type().shape[axis]))
    return;
  n.result(b.emit<GatherElementsOp>(x, n.input(1), axis));
}

void importGatherND(NodeReader &n, NodeBuilder &b) {
  int64_t batch = n.opset() >= 12 ? n.integer("batch_dims", 0) : 0;
  Value *x = n.input(0), *indices = n.input(1);
  if (batch < 0 || batch >= std::min(x->type().rank(), indices->type().rank()))
    return n.error("attribute \"batch_dims\" is " + llvm::Twine(batch) +
                   ", expected 0 up to less than the ranks of " +
                   x->type().str() + " and " + indices->type().str());
  n.result(b.emit<GatherNdOp>(x, indices, batch));
}

static ScatterReduction readReduction(NodeReader &n) {
  if (n.opset() < 16)
    return ScatterReduction::None;
  if (n.opset() < 18)
    return n.choice("reduction", ScatterReduction::None,
                    {{"none", ScatterReduction::None},
                     {"add", ScatterReduction::Add},
                     {"mul", ScatterReduction::Mul}});
  return n.choice("reduction", ScatterReduction::None,
                  {{"none", ScatterReduction::None},
                   {"add", ScatterReduction::Add},
                   {"mul", ScatterReduction::Mul},
                   {"max", ScatterReduction::Max},
                   {"min", ScatterReduction::Min}});
}
void importScatterElements(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t axis = n.axis("axis", 0, x->type().rank());
  ScatterReduction reduction = readReduction(n);
  if (n.failed() || !indicesInRange(n, 1, x->type().shape[axis]))
    return;
  n.result(
      b.emit<ScatterElementsOp>(x, n.input(1), n.input(2), axis, reduction));
}
void importScatterND(NodeReader &n, NodeBuilder &b) {
  ScatterReduction reduction = readReduction(n);
  n.result(b.emit<ScatterNdOp>(n.input(0), n.input(1), n.input(2), reduction));
}

static void topK(NodeReader &n, NodeBuilder &b, const Dim &k) {
  Value *x = n.input(0);
  int64_t axis = n.axis("axis", -1, x->type().rank());
  bool largest = n.opset() < 11 || n.flag("largest", true);
  bool sorted = n.opset() < 11 || n.flag("sorted", true);
  if (n.failed())
    return;
  const Dim &size = x->type().shape[axis];
  if ((k.isConstant() && k.constant() < 0) ||
      (k.isConstant() && size.isConstant() && k.constant() > size.constant()))
    return n.error("k is " + k.str() + ", expected 0 to " + size.str());
  std::vector<Dim> count{k};
  TopKOp op = b.emitOp<TopKOp>(x, count, axis, largest, sorted);
  if (!op)
    return;
  n.result(0, op.result(0));
  n.result(1, op.result(1));
}
void importTopKWithAttribute(NodeReader &n, NodeBuilder &b) {
  topK(n, b, Dim(n.requiredInteger("k")));
}
void importTopK(NodeReader &n, NodeBuilder &b) {
  std::optional<std::vector<Dim>> k = n.dims(1, "k");
  if (!k)
    return;
  if (k->size() != 1)
    return n.error("input 1 (k) has " + llvm::Twine(k->size()) +
                   " values, expected one");
  topK(n, b, k->front());
}

void importNonZero(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  // What is counted twice is one size, so that two masked values fit together.
  for (const Use &use : x->uses())
    if (use.op->kind() == OpKind::NonZero &&
        use.op->parent() == &b.raw().currentGraph())
      return n.result(use.op->result());
  std::string count = n.context.countSymbol(n.proto().output(0) + "_count",
                                            x->type().elementCount());
  n.result(b.emit<NonZeroOp>(x, count));
}

void importNonMaxSuppression(NodeReader &n, NodeBuilder &b) {
  Value *boxes = n.input(0), *scores = n.input(1);
  bool centre = n.flag("center_point_box", false);
  if (boxes->type().rank() != 3 || scores->type().rank() != 3)
    return n.error("boxes are " + boxes->type().str() + " and scores " +
                   scores->type().str() +
                   ", expected [batch, boxes, 4] and [batch, classes, boxes]");
  Value *limits[3] = {};
  for (unsigned i = 2; i < 5; ++i) {
    if (!n.hasInput(i))
      continue;
    Value *limit = n.input(i);
    if (!limit->type().elementCount().isConstant(1))
      return n.error("input " + llvm::Twine(i) + " has type " +
                     limit->type().str() + ", expected a scalar");
    limits[i - 2] = b.reshape(limit, {});
  }
  if (n.failed())
    return;
  const Shape &s = scores->type().shape;
  Dim each = s[2];
  if (limits[0])
    if (std::optional<std::vector<int64_t>> most =
            n.context.known.ints(n.input(2)))
      each = n.context.known.clamp(Dim(most->front()), s[2]);
  std::string count =
      n.context.countSymbol(n.proto().output(0) + "_count", s[0] * s[1] * each);
  n.result(b.emit<NonMaxSuppressionOp>(boxes, scores, limits[0], limits[1],
                                       limits[2], centre, count));
}

/// Slices of x at the positions where the condition holds.
void importCompress(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *condition = n.input(1);
  int64_t axis = 0;
  if (n.has("axis"))
    axis = n.axis("axis", 0, x->type().rank());
  else
    x = b.reshape(x, {x->type().elementCount()});
  if (n.failed())
    return;
  if (condition->type().rank() != 1 ||
      condition->type().element != DataType::Bool)
    return n.error("condition is " + condition->type().str() +
                   ", expected a vector of bool");
  if (std::optional<Constant> known = n.context.known.constant(condition)) {
    std::vector<int64_t> kept;
    std::vector<int64_t> flags = known->toInts();
    for (size_t i = 0; i < flags.size(); ++i)
      if (flags[i])
        kept.push_back(int64_t(i));
    Value *indices = b.ints(kept);
    return n.result(b.emit<GatherOp>(x, indices, axis));
  }
  std::string count = n.context.countSymbol(n.proto().output(0) + "_count",
                                            condition->type().shape[0]);
  Value *found = b.emit<NonZeroOp>(condition, count);
  if (!found)
    return;
  Value *indices = b.reshape(found, {Dim::symbol(count)});
  n.result(b.emit<GatherOp>(x, indices, axis));
}

/// Along time, the first `length` elements of each batch entry turned round.
void importReverseSequence(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *lengths = n.input(1);
  int64_t rank = x->type().rank();
  int64_t batch = n.axis("batch_axis", 1, rank);
  int64_t time = n.axis("time_axis", 0, rank);
  if (n.failed())
    return;
  if (lengths->type().rank() != 1 || batch == time)
    return n.error("sequence_lens is " + lengths->type().str() +
                   " and batch_axis and time_axis are " + llvm::Twine(batch) +
                   " and " + llvm::Twine(time) +
                   ", expected a vector and two axes");
  std::vector<Dim> along(size_t(rank), Dim(1)), across = along;
  along[size_t(time)] = x->type().shape[time];
  across[size_t(batch)] = lengths->type().shape[0];
  Value *t = b.emit<IotaOp>(along, time, DataType::I64);
  Value *length = b.reshape(b.cast(lengths, DataType::I64), across);
  Value *mirrored = b.sub(b.addTo(length, -1), t);
  Value *from = b.select(b.emit<LessOp>(t, length), mirrored, t);
  n.result(
      b.emit<GatherElementsOp>(x, b.broadcast(from, x->type().shape), time));
}

/// The cache with the update written from each batch entry's index on.
void importTensorScatter(NodeReader &n, NodeBuilder &b) {
  Value *cache = n.input(0), *update = n.input(1);
  int64_t rank = cache->type().rank();
  bool circular =
      n.choice("mode", false, {{"linear", false}, {"circular", true}});
  int64_t axis = n.axis("axis", -2, rank);
  if (n.failed())
    return;
  if (update->type().rank() != rank || axis == 0)
    return n.error("cache is " + cache->type().str() + " and update " +
                   update->type().str() +
                   ", expected the same rank and an axis after the first");
  const Dim &size = cache->type().shape[axis],
            &more = update->type().shape[axis];
  std::vector<Dim> along(size_t(rank), Dim(1)), across = along;
  along[size_t(axis)] = size;
  across[0] = cache->type().shape[0];
  Value *from = b.emit<IotaOp>(along, axis, DataType::I64);
  if (n.hasInput(2))
    from = b.sub(from, b.reshape(b.cast(n.input(2), DataType::I64), across));
  if (circular)
    from = b.emit<ModOp>(from, b.dim(size, DataType::I64));
  Value *zero = b.dim(Dim(0), DataType::I64), *end = b.dim(more, DataType::I64);
  Value *hit =
      b.emit<AndOp>(b.emit<LessEqualOp>(zero, from), b.emit<LessOp>(from, end));
  Value *safe = b.select(hit, from, zero);
  std::vector<Dim> shape(cache->type().shape.begin(),
                         cache->type().shape.end());
  Value *values =
      b.emit<GatherElementsOp>(update, b.broadcast(safe, shape), axis);
  n.result(b.select(hit, values, cache));
}

} // namespace dlc
