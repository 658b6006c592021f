// SPDX-License-Identifier: Apache-2.0
// Joins whose parts are written where they belong:
//   a = fusion{...} : nhwc            a = fusion{...} : nhwc, rows of c
//   b = fusion{...} : nhwc       =>   b = fusion{...} : nhwc, rows of c
//   c = fusion{concat(a, b)}          c = fusion{concat(a, b)}
// A part gets the strides of the joined tensor: its rows are padded to the rows
// of c. Then lowering places a and b inside c's memory, and c is no kernel.
// Where a part is a slice of a wider tensor, as after fuse-horizontal, the
// memory is the wider one's too: c's rows are padded as well, and the rest of
// the wider tensor lies before or after c's part of a row.
#include "passes/Pass.h"
#include "passes/Values.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace dlc {

namespace {

/// A tensor that holds a part of the joined one, along the axis.
struct Part {
  Value *whole;
  int64_t start; ///< of its rows, from the start of the joined tensor's
  int64_t size;
};

class ConcatElider {
public:
  ConcatElider(FusionOp fusion, Rewriter &rewriter, PassContext &context,
               const SymbolTable &symbols)
      : fusion(fusion), rewriter(rewriter), context(context), symbols(symbols) {
  }
  bool run();

private:
  bool decline(const llvm::Twine &reason) {
    context.decline(*fusion.op(), reason.str());
    return false;
  }
  bool collect();
  bool addPart(Value *operand, int64_t position);
  bool choosePlaces();
  bool choosePrice();
  /// Microseconds of all kernels that read or write what moves.
  llvm::Expected<double> price(llvm::ArrayRef<FusionOp> kernels) const;
  void setLayout(const Layout &to);

  FusionOp fusion;
  Rewriter &rewriter;
  PassContext &context;
  const SymbolTable &symbols;
  ConcatOp concat;
  int64_t axis = 0;
  Layout before, after;
  llvm::SmallVector<Part, 4> parts;    ///< by their start, each tensor once
  llvm::SmallVector<Value *, 6> moved; ///< and the joined one
};

/// The slice's first element along `axis` where it takes all of the other
/// dimensions, and neighbours.
std::optional<int64_t> startAlong(SliceOp slice, int64_t axis) {
  const Shape &from = slice.input()->type().shape,
              &to = slice.result()->type().shape;
  for (size_t d = 0; d < from.size(); ++d)
    if (slice.steps()[d] != 1 ||
        (int64_t(d) != axis &&
         (!slice.starts()[d].isConstant(0) || from[d] != to[d])))
      return std::nullopt;
  return slice.starts()[size_t(axis)].tryConstant();
}

bool ConcatElider::addPart(Value *operand, int64_t position) {
  int64_t start = position;
  if (auto slice = operand->definingOp<SliceOp>()) {
    std::optional<int64_t> first = startAlong(slice, axis);
    if (!first)
      return decline("a part is a slice along another dimension");
    start -= *first;
    operand = slice.input();
  }
  if (operand->definingOp())
    return decline("a part is computed by the join's own kernel");
  Value *whole = fusion->operand(operand->index());
  std::optional<int64_t> size = whole->type().dim(axis).tryConstant();
  if (!size)
    return decline("a part has an open size");
  auto producer = whole->definingOp<FusionOp>();
  if (!producer || producer->parent() != fusion->parent())
    return decline("a part is written by no kernel: it is a constant, an "
                   "input, or of control flow");
  if (whole->isOutput())
    return decline("a part is an output of the graph");
  if (whole->type().layout != before)
    return decline("a part is stored as " + whole->type().str() +
                   ", the join as " + concat.result()->type().str());
  if (llvm::count(producer.body().outputs(),
                  producer.body().outputs()[whole->index()]) != 1)
    return decline("a part is written twice");
  for (Part &p : parts)
    if (p.whole == whole)
      return p.start == start || decline("a tensor is part of it twice");
  parts.push_back({whole, start, *size});
  return true;
}

bool ConcatElider::collect() {
  concat = soleConcat(fusion);
  if (!concat)
    return false;
  const TensorType &type = concat.result()->type();
  axis = concat.axis();
  before = type.layout;
  if (!before.isPermutation())
    return decline("the join is stored as " + type.str());
  int64_t position = 0;
  for (Value *operand : concat.inputs()) {
    std::optional<int64_t> size = operand->type().dim(axis).tryConstant();
    if (!size)
      return decline("a part has an open size");
    if (!addPart(operand, position))
      return false;
    position += *size;
  }
  return true;
}

bool ConcatElider::choosePlaces() {
  llvm::sort(parts, [](const Part &a, const Part &b) {
    return std::pair(a.start, a.whole->index()) <
           std::pair(b.start, b.whole->index());
  });
  for (auto [a, b] : llvm::zip(parts, llvm::drop_begin(parts)))
    if (a.start + a.size > b.start)
      return decline("what a part is a slice of does not fit beside the next");
  const TensorType &type = concat.result()->type();
  const int64_t size = type.dim(axis).constant();
  const int64_t low = std::min<int64_t>(0, parts.front().start);
  const int64_t high = std::max(size, parts.back().start + parts.back().size);
  // Rows are apart only where something is outside the axis.
  Dim inner = 1;
  bool rows = false, within = false;
  for (int64_t d : before.order(type.rank()))
    if (d == axis)
      within = true;
    else if (within)
      inner = inner * type.shape[size_t(d)];
    else
      rows |= !type.shape[size_t(d)].isConstant(1);
  if (!rows) // they follow one another as they are
    return false;
  after = before.withPadding(axis, high - low);
  if (fusion.result()->isOutput())
    return decline("it is an output of the graph and its rows are apart");
  // Kernels copy 16 bytes at a time.
  const int64_t bits = bitWidth(type.element);
  auto aligned = [&](int64_t along) {
    return bits >= 8 && isMultipleOf(inner * along * (bits / 8), 16, symbols);
  };
  if (!aligned(low) || !aligned(high - low) ||
      llvm::any_of(parts, [&](const Part &p) { return !aligned(p.start); }))
    return decline("a part would begin at no multiple of 16 bytes");
  return true;
}

llvm::Expected<double>
ConcatElider::price(llvm::ArrayRef<FusionOp> kernels) const {
  double sum = 0;
  for (FusionOp kernel : kernels) {
    llvm::Expected<Estimate> e = context.costs->price(kernel, *context.target);
    if (!e)
      return e.takeError();
    sum += e->microseconds;
  }
  return sum;
}

void ConcatElider::setLayout(const Layout &to) {
  auto set = [&](Value *v) { rewriter.setType(v, v->type().withLayout(to)); };
  for (Op &op : fusion.body())
    set(op.result());
  for (Value *value : moved) {
    set(value);
    auto producer = value->definingOp<FusionOp>();
    set(producer.body().outputs()[value->index()]);
    for (const Use &use : value->uses())
      set(llvm::cast<FusionOp>(use.op).body().input(use.index));
  }
}

bool ConcatElider::choosePrice() {
  moved.push_back(fusion.result());
  for (const Part &p : parts)
    moved.push_back(p.whole);
  llvm::SmallSetVector<Op *, 8> seen;
  for (Value *value : moved) {
    if (value != fusion.result())
      seen.insert(value->definingOp());
    for (const Use &use : value->uses()) {
      if (use.op->kind() != OpKind::Fusion)
        return decline(use.op->mnemonic() + " reads it or a part of it as a "
                                            "tensor of its own");
      if (use.op != fusion.op())
        seen.insert(use.op);
    }
  }
  llvm::SmallVector<FusionOp, 8> kernels;
  for (Op *op : seen)
    kernels.push_back(llvm::cast<FusionOp>(op));
  llvm::Expected<double> apart = price(kernels), join = price({fusion});
  if (!apart || !join)
    return decline(
        llvm::toString(llvm::joinErrors(apart.takeError(), join.takeError())));
  setLayout(after);
  llvm::Expected<double> together = price(kernels);
  if (together && *together <= *apart + *join)
    return true;
  setLayout(before);
  if (!together)
    return decline(llvm::toString(together.takeError()));
  return decline("the kernels around it would lose more than the join costs");
}

bool ConcatElider::run() {
  return collect() && choosePlaces() && choosePrice();
}
} // namespace

llvm::Expected<bool> runElideConcat(Module &module, PassContext &context) {
  if (!context.costs || !context.target)
    return false;
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    for (Op &op : llvm::make_early_inc_range(graph))
      if (auto fusion = llvm::dyn_cast<FusionOp>(&op))
        changed |=
            ConcatElider(fusion, rewriter, context, module.symbols).run();
  });
  return changed;
}

} // namespace dlc
