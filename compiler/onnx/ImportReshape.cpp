// SPDX-License-Identifier: Apache-2.0
// Operators that give the same elements another shape or order.
#include "compiler/onnx/Assume.h"
#include "compiler/onnx/Operators.h"
#include <numeric>

using namespace dlc;

namespace dlc {

/// elements(from) / elements(by), with common factors cancelled first, so that
/// symbols go away. Nothing where the division is known to leave a rest.
static std::optional<Dim> divideSizes(llvm::ArrayRef<Dim> from,
                                      llvm::ArrayRef<Dim> by) {
  llvm::SmallVector<Dim, 8> above(from.begin(), from.end()), below;
  for (const Dim &d : by) {
    auto *same = d.isConstant() ? above.end() : llvm::find(above, d);
    if (same == above.end())
      below.push_back(d);
    else
      above.erase(same);
  }
  // Constant factors of either side, also those within a product.
  int64_t numbersAbove = 1, numbersBelow = 1;
  Dim symbolsAbove(1), symbolsBelow(1);
  for (const Dim &d : above) {
    if (d.isConstant() && d.constant() < (int64_t(1) << 31) &&
        numbersAbove < (int64_t(1) << 31))
      numbersAbove *= d.constant();
    else
      symbolsAbove = symbolsAbove * d;
  }
  for (const Dim &d : below) {
    if (d.isConstant() && d.constant() < (int64_t(1) << 31) &&
        numbersBelow < (int64_t(1) << 31))
      numbersBelow *= d.constant();
    else
      symbolsBelow = symbolsBelow * d;
  }
  if (numbersBelow == 0)
    return std::nullopt;
  if (symbolsBelow.isConstant(1)) {
    int64_t shared = std::gcd(numbersAbove, numbersBelow);
    if (shared > 1)
      numbersAbove /= shared, numbersBelow /= shared;
    if (symbolsAbove.isConstant(1) && numbersBelow != 1)
      return std::nullopt;
  }
  return floorDiv(symbolsAbove * Dim(numbersAbove),
                  symbolsBelow * Dim(numbersBelow));
}

static std::string shapeText(llvm::ArrayRef<Dim> shape) {
  std::string text = "[";
  for (const Dim &d : shape)
    text += (text.size() > 1 ? ", " : "") + d.str();
  return text + "]";
}

/// 0 keeps the input's size (unless allowzero), -1 takes what is left.
void importReshape(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  const Shape &from = x->type().shape;
  bool allowZero = n.opset() >= 14 && n.flag("allowzero", false);
  std::optional<std::vector<Dim>> wanted = n.dims(1, "shape");
  if (!wanted)
    return;
  std::vector<Dim> shape = *wanted;
  std::optional<size_t> open;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].isConstant(0) && !allowZero) {
      if (i >= from.size())
        return n.error("shape " + shapeText(*wanted) + " keeps dimension " +
                       llvm::Twine(i) + ", which the input " + x->type().str() +
                       " does not have");
      shape[i] = from[i];
    } else if (shape[i].isConstant(-1)) {
      if (open)
        return n.error("shape " + shapeText(*wanted) + " has two entries -1");
      open = i;
    } else if (shape[i].isConstant() && shape[i].constant() < 0) {
      return n.error("shape " + shapeText(*wanted) + " has a negative size");
    }
  }
  if (open) {
    std::vector<Dim> others;
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != *open)
        others.push_back(shape[i]);
    std::optional<Dim> rest = divideSizes(from, others);
    if (!rest)
      return n.error("shape " + shapeText(*wanted) +
                     " does not divide the input " + x->type().str());
    shape[*open] = *rest;
  }
  n.result(b.reshape(x, shape));
}

/// A matrix: dimensions before `axis`, dimensions from it on.
void importFlatten(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t axis = n.axis("axis", 1, x->type().rank(), /*mayBeRank=*/true);
  llvm::ArrayRef<Dim> shape(x->type().shape);
  if (n.failed())
    return;
  n.result(b.reshape(x, {elementCount(shape.take_front(size_t(axis))),
                         elementCount(shape.drop_front(size_t(axis)))}));
}

/// Axes from the attribute (up to opset 12) or from input 1.
static std::optional<std::vector<int64_t>> squeezeAxes(NodeReader &n) {
  if (n.opset() < 13)
    return n.has("axes") ? std::optional(n.integers("axes")) : std::nullopt;
  return n.hasInput(1) ? n.ints(1, "axes") : std::nullopt;
}

void importSqueeze(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  const Shape &shape = x->type().shape;
  std::optional<std::vector<int64_t>> given = squeezeAxes(n);
  if (n.failed())
    return;
  std::vector<int64_t> axes;
  if (given) {
    axes = n.normalizeAxes(*given, x->type().rank(), "axes");
  } else {
    for (int64_t i = 0; i < x->type().rank(); ++i) {
      if (shape[i].isConstant(1))
        axes.push_back(i);
      else if (!n.context.known.isAtLeast(shape[i], 2) &&
               !shape[i].isConstant())
        return n.error("has no axes, and whether dimension " + shape[i].str() +
                       " is 1 cannot be told: fix it with --shape");
    }
  }
  std::vector<Dim> kept;
  for (int64_t i = 0; i < x->type().rank(); ++i) {
    if (!llvm::is_contained(axes, i))
      kept.push_back(shape[i]);
    else if (provedEqual(shape[i], 1) == Proof::Refuted)
      return n.error("axis " + llvm::Twine(i) + " of " + x->type().str() +
                     " has size " + shape[i].str() + ", expected 1");
  }
  n.result(b.reshape(x, kept));
}

void importUnsqueeze(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  std::optional<std::vector<int64_t>> given = squeezeAxes(n);
  if (n.failed())
    return;
  if (!given)
    return n.error("attribute \"axes\" is missing");
  std::vector<int64_t> axes = n.normalizeAxes(
      *given, x->type().rank() + int64_t(given->size()), "axes");
  n.result(b.unsqueeze(x, axes));
}

void importTranspose(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  bool given = n.has("perm");
  std::vector<int64_t> order = n.integers("perm");
  if (!given) {
    order = countingAxes(0, x->type().rank());
    std::reverse(order.begin(), order.end());
  }
  if (int64_t(order.size()) != x->type().rank())
    return n.error("perm has " + llvm::Twine(order.size()) +
                   " entries, the input is " + x->type().str());
  order = n.normalizeAxes(order, x->type().rank(), "perm");
  n.result(b.transpose(x, order));
}

/// Broadcast both ways: where the shape says 1, the input's size stays.
void importExpand(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  const Shape &from = x->type().shape;
  std::optional<std::vector<Dim>> wanted = n.dims(1, "shape");
  if (!wanted)
    return;
  size_t rank = std::max(from.size(), wanted->size());
  std::vector<Dim> shape;
  for (size_t i = 0; i < rank; ++i) {
    size_t back = rank - i;
    Dim has = back <= from.size() ? from[from.size() - back] : Dim(1);
    Dim wants =
        back <= wanted->size() ? (*wanted)[wanted->size() - back] : Dim(1);
    if (wants.isConstant() && wants.constant() < 0)
      return n.error("shape " + shapeText(*wanted) + " has a negative size");
    if (has == wants || wants.isConstant(1))
      shape.push_back(has);
    else if (has.isConstant(1))
      shape.push_back(wants);
    else if (provedEqual(has, wants) == Proof::Refuted &&
             (n.context.known.isAtLeast(has, 2) || has.isConstant(0)) &&
             (n.context.known.isAtLeast(wants, 2) || wants.isConstant(0)))
      return n.error("the input " + x->type().str() +
                     " does not broadcast to shape " + shapeText(*wanted));
    else if (has.isConstant() && !has.isConstant(0)) {
      assumeRepeats(n, wants, has, int64_t(i));
      shape.push_back(has);
    } else if (wants.isConstant() && !wants.isConstant(0)) {
      shape.push_back(wants);
    } else {
      // The larger one, unless there are no elements at all.
      assumeRepeats(n, has, wants, int64_t(i), /*either=*/true);
      Dim some = min(min(has, wants), 1);
      shape.push_back(
          simplify(max(has, wants) * some, n.context.module.symbols));
    }
  }
  n.result(b.stretch(x, shape));
}

/// Each repeated dimension as [repeats, size], broadcast, joined.
void importTile(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  std::optional<std::vector<Dim>> repeats = n.dims(1, "repeats");
  if (!repeats)
    return;
  if (int64_t(repeats->size()) != x->type().rank())
    return n.error("repeats has " + llvm::Twine(repeats->size()) +
                   " values, the input is " + x->type().str());
  std::vector<Dim> split, spread, joined;
  for (size_t i = 0; i < repeats->size(); ++i) {
    const Dim &size = x->type().shape[i], &times = (*repeats)[i];
    if (times.isConstant() && times.constant() < 0)
      return n.error("repeats holds " + times.str() + ", expected 0 or more");
    joined.push_back(size * times);
    if (!times.isConstant(1)) {
      split.push_back(1);
      spread.push_back(times);
    }
    split.push_back(size);
    spread.push_back(size);
  }
  n.result(b.reshape(b.broadcast(b.reshape(x, split), spread), joined));
}

static std::optional<int64_t> blockSize(NodeReader &n) {
  const TensorType &type = n.input(0)->type();
  int64_t size = n.requiredInteger("blocksize");
  if (type.rank() != 4)
    n.error("input 0 has type " + type.str() + ", expected [N, C, H, W]");
  else if (size < 1 || size > (1 << 15))
    n.error("attribute \"blocksize\" is " + llvm::Twine(size) +
            ", expected a positive number");
  return n.failed() ? std::nullopt : std::optional(size);
}

void importDepthToSpace(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  bool columnsFirst = n.opset() >= 11 &&
                      n.choice("mode", false, {{"DCR", false}, {"CRD", true}});
  std::optional<int64_t> block = blockSize(n);
  if (!block)
    return;
  const Shape &s = x->type().shape;
  Dim r(*block), depth = floorDiv(s[1], *block * *block);
  if (s[1].isConstant() && s[1].constant() % (*block * *block))
    return n.error(s[1].str() +
                   " channels are no multiple of blocksize squared");
  std::vector<Dim> split =
      columnsFirst ? std::vector<Dim>{s[0], depth, r, r, s[2], s[3]}
                   : std::vector<Dim>{s[0], r, r, depth, s[2], s[3]};
  std::vector<int64_t> order = columnsFirst
                                   ? std::vector<int64_t>{0, 1, 4, 2, 5, 3}
                                   : std::vector<int64_t>{0, 3, 4, 1, 5, 2};
  n.result(b.reshape(b.transpose(b.reshape(x, split), order),
                     {s[0], depth, s[2] * r, s[3] * r}));
}

void importSpaceToDepth(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  bool columnsFirst = n.opset() >= 28 &&
                      n.choice("mode", false, {{"DCR", false}, {"CRD", true}});
  std::optional<int64_t> block = blockSize(n);
  if (!block)
    return;
  const Shape &s = x->type().shape;
  for (int64_t i : {2, 3})
    if (s[i].isConstant() && s[i].constant() % *block)
      return n.error("size " + s[i].str() + " is no multiple of blocksize " +
                     llvm::Twine(*block));
  Dim r(*block), height = floorDiv(s[2], *block),
                 width = floorDiv(s[3], *block);
  std::vector<int64_t> order = columnsFirst
                                   ? std::vector<int64_t>{0, 1, 3, 5, 2, 4}
                                   : std::vector<int64_t>{0, 3, 5, 1, 2, 4};
  Value *split = b.reshape(x, {s[0], s[1], height, r, width, r});
  n.result(b.reshape(b.transpose(split, order),
                     {s[0], s[1] * r * r, height, width}));
}

} // namespace dlc
