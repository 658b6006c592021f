// SPDX-License-Identifier: Apache-2.0
// Softmax attention that is spelled out becomes one op:
//   s = scale * (q @ transpose(k)) [+ b0 [+ b1 ...]]
//   e = exp(s - max(s));  w = e / sum(e)      [w = isnan(w) ? 0 : w]
//   w @ v  =>  attention(q, k, v, b0 + b1 ...) {scale}
// wherever converts stand; a cast of w to the type of v is part of it. The
// scale may be split between q, k and their product. What lies between may have
// no other readers. Where a cost model is asked, only what a kernel serves
// forms.
//
// Not exact: nothing in between is rounded as it was, the addends of the scores
// are added to each other first, and with isnan zero weights are not multiplied
// by infinite elements of v.
#include "ir/FusionBody.h"
#include "passes/Pass.h"
#include "passes/Values.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <limits>

namespace dlc {

namespace {
/// Follows one spelled-out attention upwards from its last product.
class Spelling {
public:
  Spelling(Op *op, const PassContext &context) : out(op), why(context.why()) {}

  /// Is it one, as far as the softmax? Otherwise there is nothing to tell.
  bool findSoftmax();
  /// The rest; false with a reason in `why`.
  bool findScores();
  bool isPrivate();

  MatMulOp out, product;
  match::Why why;
  Value *q = nullptr, *k = nullptr;      // before transposes
  llvm::SmallVector<Value *, 2> addends; // the outermost first
  double scale = 1;
  bool nanRowsZero = false;
  llvm::SetVector<Op *> interior; // without `out`

private:
  Value *behindConverts(Value *value, bool mayNarrow = false);
  bool isSame(Value *a, Value *b) {
    return behindConverts(a) == behindConverts(b);
  }
  bool isLastAxis(ReduceOp reduce, ReduceKind kind) const;
  Value *behindScale(Value *value);
  bool refuse(const llvm::Twine &sentence) {
    why = match::Why(why.asked());
    if (why.asked())
      why.refused(sentence);
    return false;
  }

  Value *scores = nullptr;
};
} // namespace

// What a value is computed from, by converts and casts that lose nothing; with
// `mayNarrow`, by a cast to the type that the last product reads, too.
Value *Spelling::behindConverts(Value *value, bool mayNarrow) {
  for (;;) {
    Op *op = value->definingOp();
    if (!op || (op->kind() != OpKind::Convert && op->kind() != OpKind::Cast))
      return value;
    DataType from = op->operand(0)->type().element,
             to = op->result()->type().element;
    const bool widens =
        isFloat(from) && isFloat(to) && bitWidth(from) < bitWidth(to);
    if (op->kind() == OpKind::Cast && !widens &&
        !(mayNarrow && isFloat(from) && to == out.rhs()->type().element))
      return value;
    interior.insert(op);
    value = op->operand(0);
  }
}

bool Spelling::isLastAxis(ReduceOp reduce, ReduceKind kind) const {
  const int64_t rank = reduce.input()->type().rank();
  return reduce.kind() == kind && reduce.keepDims() &&
         normalAxes(reduce.axes(), rank) == std::vector<int64_t>{rank - 1};
}

bool Spelling::findSoftmax() {
  Value *weights = behindConverts(out.lhs(), true);
  Value *guarded = nullptr, *tested = nullptr;
  if (match::match(weights, match::op<SelectOp>(
                                match::op<IsNanOp>(match::value(tested)),
                                match::uniform(0.0), match::value(guarded))) &&
      isSame(tested, guarded)) {
    nanRowsZero = true;
    interior.insert(weights->definingOp());
    interior.insert(weights->definingOp()->operand(0)->definingOp());
    weights = behindConverts(guarded);
  }
  Value *exponentials = nullptr, *total = nullptr, *summed = nullptr;
  Value *difference = nullptr, *largest = nullptr, *searched = nullptr;
  if (!match::match(weights, match::op<DivOp>(match::value(exponentials),
                                              match::value(total))))
    return false;
  interior.insert(weights->definingOp());
  exponentials = behindConverts(exponentials);
  total = behindConverts(total);
  ReduceOp sum, max;
  if (!match::match(exponentials, match::op<ExpOp>(match::value(difference))) ||
      !match::match(total, match::op<ReduceOp>(sum, match::value(summed))) ||
      !isLastAxis(sum, ReduceKind::Sum) || !isSame(summed, exponentials))
    return false;
  interior.insert(exponentials->definingOp());
  interior.insert(sum.op());
  difference = behindConverts(difference);
  if (!match::match(difference, match::op<SubOp>(match::value(scores),
                                                 match::value(largest))))
    return false;
  interior.insert(difference->definingOp());
  scores = behindConverts(scores);
  largest = behindConverts(largest);
  if (!match::match(largest,
                    match::op<ReduceOp>(max, match::value(searched))) ||
      !isLastAxis(max, ReduceKind::Max) || !isSame(searched, scores))
    return false;
  interior.insert(max.op());
  return true;
}

// x of x * c and x / c, with the factor in `scale`; the value itself where it
// is not that.
Value *Spelling::behindScale(Value *value) {
  Value *x = nullptr;
  double c = 1;
  if (match::match(
          value, match::commutative<MulOp>(match::value(x), match::uniform(c))))
    scale *= c;
  else if (match::match(value,
                        match::op<DivOp>(match::value(x), match::uniform(c))))
    scale /= c;
  else
    return value;
  return sameShape(x, value) ? x : value;
}

// Does the value follow from a product by scales and additions?
static bool leadsToProduct(Value *value, unsigned depth = 8) {
  Op *op = value->definingOp();
  if (!op || depth == 0)
    return false;
  switch (op->kind()) {
  case OpKind::MatMul:
    return true;
  case OpKind::Convert:
  case OpKind::Cast:
  case OpKind::Mul:
  case OpKind::Div:
  case OpKind::Add:
    return llvm::any_of(op->operands(), [&](Value *operand) {
      return leadsToProduct(operand, depth - 1);
    });
  default:
    return false;
  }
}

bool Spelling::findScores() {
  Value *value = scores;
  const Value *whole = scores;
  bool scaled = false;
  for (;;) {
    value = behindConverts(value);
    Op *op = value->definingOp();
    if (op && op->kind() == OpKind::MatMul)
      break;
    if (op && op->kind() == OpKind::Add) {
      unsigned side = leadsToProduct(op->operand(0)) ? 0 : 1;
      Value *next = op->operand(side);
      if (scaled)
        return refuse("what is added to its scores is scaled with them");
      if (!sameShape(next, whole))
        return refuse("what is added to its scores broadcasts them");
      interior.insert(op);
      addends.push_back(op->operand(1 - side));
      value = next;
      continue;
    }
    Value *next = behindScale(value);
    if (next == value) {
      match::match(value, match::op<MatMulOp>(), &why);
      return false;
    }
    interior.insert(op);
    scaled = true;
    value = next;
  }
  product = MatMulOp(value->definingOp());
  interior.insert(product.op());
  // Scales of q and k where they are computed from what has their type.
  auto unscaled = [&](Value *operand) {
    double before = scale;
    llvm::SetVector<Op *> kept = interior;
    Value *x = behindConverts(behindScale(behindConverts(operand)));
    interior = kept; // whoever else reads them still does
    if (scale != before && x->type().element == operand->type().element)
      return x;
    scale = before;
    return operand;
  };
  q = unscaled(product.lhs());
  k = unscaled(product.rhs());
  if (!(scale > 0 && scale <= std::numeric_limits<float>::max()))
    return refuse("its scale is " + match::numberText(scale) +
                  ", expected a positive number that f32 holds");
  if (out.transposeLhs())
    return refuse("its weights are transposed");
  if (out.resultType() && *out.resultType() != out.rhs()->type().element)
    return refuse("its result has another type than v");
  if (product.lhs()->type().element != out.rhs()->type().element)
    return refuse("q has elements of " +
                  stringify(product.lhs()->type().element) + ", v of " +
                  stringify(out.rhs()->type().element));
  llvm::ArrayRef<Dim> batches = out.lhs()->type().shape;
  if (!sameShape(batches.drop_back(2),
                 llvm::ArrayRef(out.result()->type().shape).drop_back(2)))
    return refuse("v has more batches than the weights");
  return true;
}

// Does nobody else read what lies in between?
bool Spelling::isPrivate() {
  for (Op *op : interior) {
    const Value *value = op->result();
    for (const Use &use : value->uses())
      if (use.op != out.op() && !interior.contains(use.op))
        return refuse("expected no other readers of " + match::describe(value) +
                      ", found " + use.op->mnemonic());
    if (value->isOutput())
      return refuse(match::describe(value) + " is an output");
  }
  return true;
}

static Value *transposed(Builder &builder, Value *value) {
  std::vector<int64_t> permutation(size_t(value->type().rank()));
  for (size_t d = 0; d != permutation.size(); ++d)
    permutation[d] = int64_t(d);
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return builder.create<TransposeOp>(value, permutation).result();
}

static TensorType transposedType(const Value *value, bool transpose) {
  TensorType type(value->type().element, value->type().shape);
  if (transpose)
    std::swap(type.shape.back(), type.shape[type.shape.size() - 2]);
  return type;
}

// The sum of what is added, in f32 at least, the innermost first.
static Value *sumOf(Builder &builder, llvm::ArrayRef<Value *> addends) {
  Value *sum = nullptr;
  for (Value *addend : llvm::reverse(addends)) {
    // Stored narrow, it is widened where it is read.
    if (Op *op = addend->definingOp();
        op && addends.size() == 1 &&
        (op->kind() == OpKind::Convert || op->kind() == OpKind::Cast) &&
        isFloat(op->operand(0)->type().element) &&
        bitWidth(op->operand(0)->type().element) <
            bitWidth(addend->type().element))
      addend = op->operand(0);
    if (addends.size() > 1 && bitWidth(addend->type().element) < 32)
      addend = builder.create<ConvertOp>(addend, DataType::F32).result();
    sum = sum ? builder.create<AddOp>(sum, addend).result() : addend;
  }
  return sum;
}

// Why no kernel serves it; empty if one does, or nobody knows kernels.
static std::string whyNoKernel(const Spelling &s, const PassContext &context) {
  if (!context.costs || !context.target)
    return "";
  Graph values; // that its operands are
  llvm::SmallVector<Value *, 4> operands{
      values.addInput(transposedType(s.q, s.product.transposeLhs())),
      values.addInput(transposedType(s.k, !s.product.transposeRhs())),
      values.addInput(transposedType(s.out.rhs(), s.out.transposeRhs()))};
  if (!s.addends.empty()) {
    std::vector<Shape> shapes;
    for (const Value *addend : s.addends)
      shapes.push_back(addend->type().shape);
    if (std::optional<Shape> shape = broadcastShapes(shapes))
      operands.push_back(values.addInput(TensorType(DataType::F32, *shape)));
  }
  Op *fusion = FusionOp::make(s.out.location(), operands, FusionKind::Attention,
                              {0}, {}, {});
  Graph &body = fusion->region(0);
  llvm::SmallVector<Value *, 4> inner;
  for (Value *operand : operands)
    inner.push_back(body.addInput(operand->type()));
  Builder builder(body);
  AttentionOp op = builder.create<AttentionOp>(
      inner[0], inner[1], inner[2], inner.size() > 3 ? inner[3] : nullptr,
      s.scale, s.nanRowsZero);
  body.addOutput(op.result());
  fusion->setResultTypes({op.result()->type()});
  llvm::Expected<Estimate> price =
      context.costs->price(FusionOp(fusion), *context.target);
  delete fusion;
  return price ? ""
               : "no kernel serves it: " + llvm::toString(price.takeError());
}

static bool formAttention(Op *op, Rewriter &rewriter, PassContext &context) {
  if (op->kind() != OpKind::MatMul)
    return false;
  Spelling s(op, context);
  if (!s.findSoftmax())
    return false;
  if (!s.findScores() || !s.isPrivate()) {
    context.decline(*op, s.why);
    return false;
  }
  if (std::string why = whyNoKernel(s, context); !why.empty()) {
    context.decline(*op, why);
    return false;
  }
  llvm::SmallVector<Location, 16> locations;
  for (Op *inner : llvm::reverse(s.interior))
    locations.push_back(inner->location());
  Builder &builder = rewriter.at(op);
  locations.push_back(op->location());
  builder.location = Location::join(locations);
  Value *q = s.product.transposeLhs() ? transposed(builder, s.q) : s.q;
  Value *k = s.product.transposeRhs() ? s.k : transposed(builder, s.k);
  Value *v =
      s.out.transposeRhs() ? transposed(builder, s.out.rhs()) : s.out.rhs();
  Value *bias = sumOf(builder, s.addends);
  rewriter.replace(
      op, builder.create<AttentionOp>(q, k, v, bias, s.scale, s.nanRowsZero)
              .result());
  return true;
}

llvm::Expected<bool> runFormAttention(Module &module, PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    rewriter.greedily([&](Op *op, Rewriter &rewriter) {
      return formAttention(op, rewriter, context);
    });
    changed |= rewriter.changed();
  });
  return changed;
}

} // namespace dlc
