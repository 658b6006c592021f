// SPDX-License-Identifier: Apache-2.0
// Operators that take parts of a tensor or put parts together.
#include "compiler/onnx/Assume.h"
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

static std::vector<Dim> asDims(llvm::ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

/// Exporters write this or more for "up to the end"; no dimension is that long.
static constexpr int64_t kEndless = 1000000000;

/// Sees to it that `d` is not negative: proves it, or narrows the range of its
/// one symbol, which the runtime then checks.
static bool assumeNotNegative(NodeReader &n, const Dim &d) {
  if (n.context.known.isAtLeast(d, 0))
    return true;
  llvm::SmallVector<std::string, 2> names;
  d.forEachSymbol([&](llvm::StringRef name) { names.push_back(name.str()); });
  if (names.size() != 1)
    return false;
  auto at = [&](int64_t value) {
    return d.evaluate([&](llvm::StringRef) { return std::optional(value); });
  };
  std::optional<int64_t> zero = at(0), one = at(1);
  auto symbol = n.context.module.symbols.find(names[0]);
  if (!zero || !one || symbol == n.context.module.symbols.end())
    return false;
  int64_t slope = *one - *zero;
  if (slope == 0 || d != Dim::symbol(names[0]) * Dim(slope) + Dim(*zero))
    return false;
  Symbol &s = symbol->second;
  if (slope > 0) {
    s.lower = std::max(s.lower, ceilDiv(Dim(-*zero), Dim(slope)).constant());
  } else {
    int64_t most = floorDiv(Dim(*zero), Dim(-slope)).constant();
    s.upper = s.upper ? std::min(*s.upper, most) : most;
  }
  return !s.upper || s.lower <= *s.upper;
}

/// A start or end of a slice along a dimension of `size`: at least `least`,
/// which is 0 or -1, but in any case at most `most`, which is `size` or one
/// less. So a slice backwards starts at -1, where it ends too, if there is no
/// element.
static std::optional<Dim> sliceBound(NodeReader &n, const Dim &given,
                                     const Dim &size, int64_t least,
                                     const Dim &most) {
  const KnownValues &known = n.context.known;
  Dim position = given;
  if (given.isConstant()) {
    if (given.constant() >= kEndless)
      return most;
    if (given.constant() <= -kEndless)
      position = Dim(least);
    else if (given.constant() < 0)
      position = given + size;
  } else if (known.isAtLeast(Dim(0) - given, 1)) {
    position = given + size;
  } else if (!assumeNotNegative(n, given)) {
    n.error("whether the bound " + given.str() +
            " is negative cannot be told: give the dimension a range with "
            "--shape");
    return std::nullopt;
  }
  auto atMost = [&](const Dim &d) {
    return known.isAtMost(d, most)   ? d
           : known.isAtMost(most, d) ? most
                                     : min(d, most);
  };
  // No element: `most` is -1, and below a `least` of 0.
  if (most != size && least == 0 && !known.isAtLeast(size, 1))
    return atMost(known.atLeast(position, least));
  return known.atLeast(atMost(position), least);
}

static void slice(NodeReader &n, NodeBuilder &b, llvm::ArrayRef<Dim> starts,
                  llvm::ArrayRef<Dim> ends, llvm::ArrayRef<int64_t> axes,
                  llvm::ArrayRef<int64_t> steps) {
  Value *x = n.input(0);
  const Shape &shape = x->type().shape;
  if (starts.size() != ends.size() || starts.size() != axes.size() ||
      starts.size() != steps.size())
    return n.error("starts, ends, axes and steps have " +
                   llvm::Twine(starts.size()) + ", " +
                   llvm::Twine(ends.size()) + ", " + llvm::Twine(axes.size()) +
                   " and " + llvm::Twine(steps.size()) +
                   " values, expected the same number");
  std::vector<Dim> from(shape.size()), sizes(shape.begin(), shape.end());
  std::vector<int64_t> strides(shape.size(), 1);
  std::vector<int64_t> along = n.normalizeAxes(axes, x->type().rank(), "axes");
  bool whole = true;
  for (size_t i = 0; i < along.size() && !n.failed(); ++i) {
    size_t d = size_t(along[i]);
    int64_t step = steps[i];
    if (step == 0)
      return n.error("a step is 0");
    // A step beyond any size takes one element.
    step = std::max(-kEndless, std::min(kEndless, step));
    bool forward = step > 0;
    Dim most = forward ? shape[d] : shape[d] - 1;
    std::optional<Dim> start = sliceBound(n, starts[i], shape[d], 0, most);
    std::optional<Dim> end =
        sliceBound(n, ends[i], shape[d], forward ? 0 : -1, most);
    if (!start || !end)
      return;
    Dim length = forward ? *end - *start : *start - *end;
    from[d] = *start;
    sizes[d] =
        n.context.known.atLeast(ceilDiv(length, forward ? step : -step), 0);
    strides[d] = step;
    whole &= start->isConstant(0) && sizes[d] == shape[d] && step == 1;
  }
  // Starts of an empty slice need not be in range.
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d].isConstant(0))
      from[d] = Dim(0);
  n.result(whole ? x : b.emit<SliceOp>(x, from, sizes, strides));
}

void importSliceWithAttributes(NodeReader &n, NodeBuilder &b) {
  std::vector<int64_t> starts = n.integers("starts"), ends = n.integers("ends");
  std::vector<int64_t> axes = n.integers("axes");
  if (axes.empty())
    axes = countingAxes(0, int64_t(starts.size()));
  slice(n, b, asDims(starts), asDims(ends), axes,
        std::vector<int64_t>(starts.size(), 1));
}

/// Along one axis, from a start to an end that only the device knows: a kernel
/// counts how many elements that are, and they are gathered.
static Value *sliceOnDevice(NodeReader &n, NodeBuilder &b, Value *x,
                            Value *start, Value *end, int64_t axis,
                            int64_t step) {
  const Dim size = x->type().shape[size_t(axis)];
  auto number = [&](const Dim &d) { return b.dim(d, DataType::I64); };
  auto bound = [&](Value *given, int64_t least, const Dim &most) {
    Value *fromEnd =
        b.select(b.emit<LessOp>(given, number(0)), number(size), number(0));
    return b.min(b.max(b.add(given, fromEnd), number(least)), number(most));
  };
  start = bound(start, 0, step > 0 ? size : size - 1);
  end = bound(end, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  Value *length = step > 0 ? b.sub(end, start) : b.sub(start, end);
  int64_t stride = step > 0 ? step : -step;
  Value *count = b.div(b.add(b.max(length, number(0)), number(stride - 1)),
                       number(stride));
  Dim most = ceilDiv(size, stride);
  Value *taken = b.emit<LessOp>(
      b.emit<IotaOp>(std::vector<Dim>{most}, 0, DataType::I64), count);
  std::string name = n.context.countSymbol(
      n.proto().output(0) + "_" + std::to_string(axis), most);
  Value *found = b.reshape(b.emit<NonZeroOp>(taken, name), {Dim::symbol(name)});
  return b.emit<GatherOp>(x, b.add(b.mul(found, number(step)), start), axis);
}

void importSlice(NodeReader &n, NodeBuilder &b) {
  std::optional<std::vector<Dim>> starts = n.context.known.dims(n.input(1));
  std::optional<std::vector<Dim>> ends = n.context.known.dims(n.input(2));
  const TensorType &given = n.input(1)->type();
  std::optional<int64_t> count = given.elementCount().tryConstant();
  for (unsigned i : {1, 2})
    if (!isInteger(n.input(i)->type().element))
      return n.error("input " + llvm::Twine(i) + " has type " +
                     n.input(i)->type().str() + ", expected an integer tensor");
  if (!count || given.rank() != 1 || n.input(2)->type() != given)
    return n.error("starts and ends are " + given.str() + " and " +
                   n.input(2)->type().str() +
                   ", expected vectors of one known size");
  std::optional<std::vector<int64_t>> axes = countingAxes(0, *count);
  std::optional<std::vector<int64_t>> steps = std::vector<int64_t>(*count, 1);
  if (n.hasInput(3))
    axes = n.ints(3, "axes");
  if (n.hasInput(4))
    steps = n.ints(4, "steps");
  if (!axes || !steps)
    return;
  if (starts && ends)
    return slice(n, b, *starts, *ends, *axes, *steps);
  Value *x = n.input(0);
  std::vector<int64_t> along = n.normalizeAxes(*axes, x->type().rank(), "axes");
  if (n.failed())
    return;
  if (int64_t(along.size()) != *count || int64_t(steps->size()) != *count)
    return n.error("starts, axes and steps have " + llvm::Twine(*count) + ", " +
                   llvm::Twine(along.size()) + " and " +
                   llvm::Twine(steps->size()) +
                   " values, expected the same number");
  for (int64_t i = 0; i < *count; ++i) {
    int64_t step = std::clamp((*steps)[size_t(i)], -kEndless, kEndless);
    if (step == 0)
      return n.error("a step is 0");
    auto at = [&](unsigned input) {
      return b.reshape(b.cast(b.slice(n.input(input), 0, i, 1), DataType::I64),
                       {});
    };
    x = sliceOnDevice(n, b, x, at(1), at(2), along[size_t(i)], step);
    if (n.failed())
      return;
  }
  n.result(x);
}

/// Parts of given sizes, or equal ones; from opset 18 the last may be smaller.
void importSplit(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t axis = n.axis("axis", 0, x->type().rank());
  size_t count = n.results().size();
  std::optional<std::vector<Dim>> sizes;
  if (n.opset() < 13 && n.has("split")) {
    std::vector<int64_t> given = n.integers("split");
    sizes.emplace(given.begin(), given.end());
  } else if (n.opset() >= 13 && n.hasInput(1)) {
    sizes = n.dims(1, "split");
  }
  int64_t parts = n.opset() >= 18 ? n.integer("num_outputs", int64_t(count))
                                  : int64_t(count);
  if (n.failed())
    return;
  const Dim &whole = x->type().shape[axis];
  if (parts != int64_t(count) || parts < 1)
    return n.error("num_outputs is " + llvm::Twine(parts) + ", the node has " +
                   llvm::Twine(count) + " outputs");
  if (sizes && sizes->size() != count)
    return n.error("split has " + llvm::Twine(sizes->size()) +
                   " values, the node has " + llvm::Twine(count) + " outputs");
  if (!sizes) {
    bool even = whole.isConstant() && whole.constant() % parts == 0;
    if (n.opset() < 18 && whole.isConstant() && !even)
      return n.error("dimension " + whole.str() + " does not split into " +
                     llvm::Twine(parts) + " equal parts");
    bool divides = even ||
                   isMultipleOf(whole, parts, n.context.module.symbols) ||
                   n.opset() < 18;
    Dim part = divides ? floorDiv(whole, parts) : ceilDiv(whole, parts);
    sizes.emplace(count, part);
    if (!divides)
      sizes->back() = n.context.known.atLeast(whole - part * Dim(parts - 1), 0);
  }
  Dim start(0), total(0);
  for (const Dim &size : *sizes) {
    if (size.isConstant() && size.constant() < 0)
      return n.error("split holds " + size.str() + ", expected 0 or more");
    total = total + size;
  }
  bool given = n.hasInput(1) || n.has("split");
  if (given && provedEqual(total, whole) == Proof::Refuted)
    return n.error("split adds up to " + total.str() + ", dimension " +
                   llvm::Twine(axis) + " is " + whole.str());
  assume(n, total, Relation::Equal, whole,
         "parts that add up to dimension " + llvm::Twine(axis));
  for (unsigned i = 0; i < count; ++i) {
    n.result(i, b.slice(x, axis, start, (*sizes)[i]));
    start = start + (*sizes)[i];
  }
}

void importConcat(NodeReader &n, NodeBuilder &b) {
  if (!n.has("axis"))
    n.error("attribute \"axis\" is missing");
  int64_t axis = n.axis("axis", 0, n.inputs()[0]->type().rank());
  n.result(b.concat(n.inputs(), axis));
}

static PadMode readPadMode(NodeReader &n) {
  if (n.opset() < 19)
    return n.choice("mode", PadMode::Constant,
                    {{"constant", PadMode::Constant},
                     {"reflect", PadMode::Reflect},
                     {"edge", PadMode::Edge}});
  return n.choice("mode", PadMode::Constant,
                  {{"constant", PadMode::Constant},
                   {"reflect", PadMode::Reflect},
                   {"edge", PadMode::Edge},
                   {"wrap", PadMode::Wrap}});
}

static void pad(NodeReader &n, NodeBuilder &b, llvm::ArrayRef<Dim> pads,
                llvm::ArrayRef<int64_t> axes, PadMode mode, Value *value) {
  Value *x = n.input(0);
  if (pads.size() != 2 * axes.size())
    return n.error("pads has " + llvm::Twine(pads.size()) +
                   " values, expected " + llvm::Twine(2 * axes.size()));
  std::vector<Dim> low(x->type().shape.size()), high = low;
  bool nothing = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t d = size_t(axes[i]);
    low[d] = pads[i];
    high[d] = pads[i + axes.size()];
    if (mode != PadMode::Constant) {
      // What is cut off is no longer there to be mirrored or repeated.
      auto cut = [](Dim &pad) {
        Dim less = pad.isConstant() && pad.constant() < 0 ? Dim(0) - pad : 0;
        pad = pad + less;
        return less;
      };
      Dim before = cut(low[d]), after = cut(high[d]);
      Dim left = x->type().shape[d] - before - after;
      if (left.isConstant() && left.constant() < 0)
        return n.error("pads cut " + before.str() + " and " + after.str() +
                       " of dimension " + llvm::Twine(d) + " of " +
                       x->type().str());
      x = b.slice(x, axes[i], before, left);
      if (n.failed())
        return;
    }
    nothing &= low[d].isConstant(0) && high[d].isConstant(0);
  }
  if (mode != PadMode::Constant)
    value = nullptr;
  n.result(nothing ? x : b.emit<PadOp>(x, value, low, high, mode));
}

void importPadWithAttributes(NodeReader &n, NodeBuilder &b) {
  std::vector<int64_t> pads = n.integers("pads");
  double fill = n.real("value", 0);
  PadMode mode = readPadMode(n);
  Value *x = n.input(0);
  pad(n, b, asDims(pads), countingAxes(0, x->type().rank()), mode,
      fill == 0 ? nullptr : b.like(x, fill));
}

void importPad(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  PadMode mode = readPadMode(n);
  std::optional<std::vector<Dim>> pads = n.dims(1, "pads");
  std::vector<int64_t> axes = countingAxes(0, x->type().rank());
  if (n.hasInput(3)) {
    std::optional<std::vector<int64_t>> given = n.ints(3, "axes");
    if (given)
      axes = n.normalizeAxes(*given, x->type().rank(), "axes");
  }
  Value *value = nullptr;
  if (n.hasInput(2)) {
    value = n.input(2);
    if (!value->type().elementCount().isConstant(1))
      return n.error("input 2 (value) has type " + value->type().str() +
                     ", expected a scalar");
    value = b.reshape(value, {});
  }
  if (pads && !n.failed())
    pad(n, b, *pads, axes, mode, value);
}

/// Each dimension cut or padded on both sides to the size that is wanted.
void importCenterCropPad(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  bool given = n.has("axes");
  std::vector<int64_t> axes = n.integers("axes");
  axes = n.normalizeAxes(given ? axes : countingAxes(0, x->type().rank()),
                         x->type().rank(), "attribute \"axes\"");
  std::optional<std::vector<Dim>> sizes = n.dims(1, "shape");
  if (!sizes || n.failed())
    return;
  if (sizes->size() != axes.size())
    return n.error("shape has " + llvm::Twine(sizes->size()) +
                   " values, expected one for each of " +
                   llvm::Twine(axes.size()) + " axes");
  std::vector<Dim> low(x->type().shape.size()), high = low;
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t d = size_t(axes[i]);
    const Dim &has = x->type().shape[d];
    Dim missing = (*sizes)[i] - has;
    bool grows = n.context.known.isAtLeast(missing, 0);
    if (!grows && !n.context.known.isAtLeast(Dim(0) - missing, 0))
      return n.error("whether dimension " + has.str() +
                     " is cut or padded to " + (*sizes)[i].str() +
                     " cannot be told: fix it with --shape");
    // Half of what is too much goes at the begin, rounded down, either way.
    low[d] =
        grows ? floorDiv(missing, 2) : Dim(0) - floorDiv(Dim(0) - missing, 2);
    high[d] = missing - low[d];
  }
  n.result(b.emit<PadOp>(x, nullptr, low, high));
}

} // namespace dlc
