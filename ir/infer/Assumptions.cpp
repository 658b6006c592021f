// SPDX-License-Identifier: Apache-2.0
// What the result types of ops take for granted.
#include "ir/infer/Assumptions.h"

#include "ir/infer/Helpers.h"
#include "llvm/ADT/STLExtras.h"

namespace dlc {

namespace {

class Recorder {
public:
  explicit Recorder(Module &module) : module(module) {}

  void record(Graph &graph) {
    for (Op &o : graph.ops()) {
      op = &o;
      // What a fusion holds was recorded when it was made.
      if (o.kind() == OpKind::Fusion)
        continue;
      recordOp();
      for (Value *v : results())
        for (auto [d, size] : llvm::enumerate(v->type().shape))
          atMost(0, size, "a size of 0 or more for dimension " + text(d));
      for (unsigned i = 0; i != o.numRegions(); ++i)
        record(o.region(i));
    }
  }

private:
  void recordOp();
  void slice(SliceOp op);
  void pad(PadOp op);
  void lstm(LstmOp op);
  void loop(LoopOp op);
  void scatterNd(ScatterNdOp op);

  static std::string text(size_t number) { return std::to_string(number); }
  llvm::SmallVector<Value *, 2> results() const {
    llvm::SmallVector<Value *, 2> values;
    for (unsigned i = 0; i != op->numResults(); ++i)
      values.push_back(op->result(i));
    return values;
  }

  void add(const Dim &a, Relation relation, const Dim &b,
           const llvm::Twine &what) {
    if (a.isConstant() && b.isConstant())
      return; // inference has seen it
    std::string where = op->location().str();
    llvm::StringRef sign = relation == Relation::Equal ? " == " : " <= ";
    assume(module.constraints, module.symbols, a, relation, b,
           (where.empty() ? op->mnemonic().str() : where) + ": expected " +
               what + ", " + a.str() + sign.str() + b.str());
  }
  void equal(const Dim &a, const Dim &b, const llvm::Twine &what) {
    add(a, Relation::Equal, b, what);
  }
  void atMost(const Dim &a, const Dim &b, const llvm::Twine &what) {
    add(a, Relation::LessEqual, b, what);
  }
  void sameShape(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b,
                 const llvm::Twine &what) {
    for (auto [i, x, y] : llvm::enumerate(a, b))
      equal(x, y, what + " of one size in dimension " + text(i));
  }
  /// `from` lines up with the end of `to`; a constant 1 repeats.
  void broadcast(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to) {
    size_t offset = to.size() - from.size();
    for (auto [i, d] : llvm::enumerate(from))
      if (!d.isConstant(1))
        equal(d, to[offset + i],
              "shapes that agree in dimension " + text(offset + i) +
                  " (one that repeats has to be 1 at compile time: --shape)");
  }

  Module &module;
  Op *op = nullptr;
};

} // namespace

void Recorder::slice(SliceOp slice) {
  const Shape &in = slice.input()->type().shape;
  for (size_t d = 0; d != in.size(); ++d) {
    const Dim &start = slice.starts()[d], &size = slice.sizes()[d];
    int64_t step = slice.steps()[d];
    if (size.isConstant(0))
      continue;
    Dim last = start + (size - 1) * Dim(step);
    std::string what = "a slice inside of dimension " + text(d);
    if (step > 0) {
      atMost(0, start, what);
      atMost(last + 1, in[d], what);
      continue;
    }
    // Backwards the start of an empty slice may be anywhere.
    Dim any = min(max(size, 0), 1);
    atMost(any * (start + 1), any * in[d], what);
    atMost(0, any * last, what);
  }
}

void Recorder::pad(PadOp pad) {
  const Shape &in = pad.input()->type().shape;
  for (size_t d = 0; d != in.size(); ++d)
    for (const Dim &amount : {pad.low()[d], pad.high()[d]}) {
      if (amount.isConstant(0))
        continue;
      std::string where = " dimension " + text(d);
      switch (pad.mode()) {
      case PadMode::Constant:
        atMost(Dim(0) - amount, in[d],
               "no more cropped than there is of" + where);
        break;
      case PadMode::Reflect:
        atMost(0, amount, "no negative pads in" + where);
        atMost(amount + 1, max(in[d], 1),
               "pads that mirror what is in" + where);
        break;
      case PadMode::Edge:
      case PadMode::Wrap:
        atMost(0, amount, "no negative pads in" + where);
        atMost(min(amount, 1), in[d], "an element to repeat in" + where);
        break;
      }
    }
}

void Recorder::lstm(LstmOp lstm) {
  const TensorType &x = lstm.x()->type();
  Dim directions = lstm.direction() == Direction::Bidirectional ? 2 : 1;
  Dim hidden = lstm.hidden(), batch = x.dim(1);
  auto shape = [&](llvm::StringRef name, Value *v,
                   llvm::ArrayRef<Dim> expected) {
    if (v)
      sameShape(v->type().shape, expected, name);
  };
  shape("w", lstm.w(), {directions, hidden * 4, x.dim(2)});
  shape("r", lstm.r(), {directions, hidden * 4, hidden});
  shape("b", lstm.b(), {directions, hidden * 8});
  shape("lengths", lstm.lengths(), {batch});
  shape("initialH", lstm.initialH(), {directions, batch, hidden});
  shape("initialC", lstm.initialC(), {directions, batch, hidden});
  shape("p", lstm.p(), {directions, hidden * 3});
}

void Recorder::loop(LoopOp loop) {
  Graph &body = loop.body();
  for (auto [i, v] : llvm::enumerate(loop.inputs()))
    sameShape(v->type().shape, body.input(unsigned(i) + 2)->type().shape,
              "values of the loop");
  for (int64_t i = 0; i != loop.carried(); ++i)
    sameShape(body.outputs()[size_t(i) + 1]->type().shape,
              op->result(unsigned(i))->type().shape, "carried values");
}

void Recorder::scatterNd(ScatterNdOp scatter) {
  const Shape &in = scatter.input()->type().shape;
  const TensorType &indices = scatter.indices()->type();
  Shape expected(indices.shape.begin(), indices.shape.end() - 1);
  int64_t depth = indices.dim(-1).constant();
  if (depth < 0 || depth > int64_t(in.size()))
    return;
  expected.append(in.begin() + depth, in.end());
  const Shape &updates = scatter.updates()->type().shape;
  if (updates.size() == expected.size())
    sameShape(updates, expected, "updates");
}

void Recorder::recordOp() {
  if (op->hasTrait(OpTrait::Pointwise)) {
    for (Value *v : op->operands())
      broadcast(v->type().shape, op->result()->type().shape);
    return;
  }
  switch (op->kind()) {
  case OpKind::Reshape:
    return equal(op->operand(0)->type().elementCount(),
                 op->result()->type().elementCount(),
                 "as many elements before as after");
  case OpKind::Broadcast:
    return broadcast(op->operand(0)->type().shape, op->result()->type().shape);
  case OpKind::Slice:
    return slice(SliceOp(op));
  case OpKind::Pad:
    return pad(PadOp(op));
  case OpKind::Concat: {
    int64_t axis = ConcatOp(op).axis();
    for (Value *v : op->operands())
      for (auto [d, size] : llvm::enumerate(v->type().shape))
        if (int64_t(d) != axis)
          equal(size, op->result()->type().dim(int64_t(d)),
                "inputs of one size in dimension " + text(d));
    return;
  }
  case OpKind::MatMul: {
    MatMulOp matmul(op);
    const TensorType &lhs = matmul.lhs()->type(), &rhs = matmul.rhs()->type();
    equal(lhs.dim(matmul.transposeLhs() ? -2 : -1),
          rhs.dim(matmul.transposeRhs() ? -1 : -2), "one inner dimension");
    llvm::ArrayRef<Dim> to = op->result()->type().shape;
    for (llvm::ArrayRef<Dim> from : {lhs.shape, rhs.shape})
      broadcast(from.drop_back(2), to.drop_back(2));
    return;
  }
  case OpKind::Attention: {
    AttentionOp attention(op);
    const TensorType &q = attention.q()->type(), &k = attention.k()->type(),
                     &v = attention.v()->type();
    equal(q.dim(-1), k.dim(-1), "one depth of q and k");
    equal(k.dim(-2), v.dim(-2), "as many rows of k as of v");
    Shape to(op->result()->type().shape);
    for (llvm::ArrayRef<Dim> from : {q.shape, k.shape, v.shape})
      broadcast(from.drop_back(2), llvm::ArrayRef(to).drop_back(2));
    to.back() = k.dim(-2);
    if (attention.bias())
      broadcast(attention.bias()->type().shape, to);
    return;
  }
  case OpKind::Conv: {
    ConvOp conv(op);
    return equal(conv.input()->type().dim(1),
                 conv.filter()->type().dim(1) * Dim(conv.groups()),
                 "the channels of the filter");
  }
  case OpKind::ConvTranspose: {
    ConvTransposeOp conv(op);
    return equal(conv.input()->type().dim(1), conv.filter()->type().dim(0),
                 "the channels of the filter");
  }
  case OpKind::ArgReduce: {
    ArgReduceOp reduce(op);
    return atMost(1, reduce.input()->type().dim(reduce.axis()),
                  "an element along axis " + text(size_t(reduce.axis())));
  }
  case OpKind::TopK: {
    TopKOp topk(op);
    return atMost(topk.k()[0], topk.input()->type().dim(topk.axis()),
                  "k of at most the size of axis " + text(size_t(topk.axis())));
  }
  case OpKind::GatherElements: {
    GatherElementsOp gather(op);
    const TensorType &indices = gather.indices()->type();
    for (int64_t d = 0; d != indices.rank(); ++d)
      if (d != gather.axis())
        atMost(indices.dim(d), gather.input()->type().dim(d),
               "indices inside of dimension " + text(size_t(d)));
    return;
  }
  case OpKind::GatherNd: {
    GatherNdOp gather(op);
    for (int64_t d = 0; d != gather.batchDims(); ++d)
      equal(gather.indices()->type().dim(d), gather.input()->type().dim(d),
            "one batch in dimension " + text(size_t(d)));
    return;
  }
  case OpKind::ScatterElements: {
    ScatterElementsOp scatter(op);
    const TensorType &indices = scatter.indices()->type();
    sameShape(scatter.updates()->type().shape, indices.shape,
              "updates and indices");
    for (int64_t d = 0; d != indices.rank(); ++d)
      if (d != scatter.axis())
        atMost(indices.dim(d), scatter.input()->type().dim(d),
               "indices inside of dimension " + text(size_t(d)));
    return;
  }
  case OpKind::ScatterNd:
    return scatterNd(ScatterNdOp(op));
  case OpKind::Resize: {
    ResizeOp resize(op);
    for (auto [d, size] : llvm::enumerate(resize.input()->type().shape))
      atMost(min(resize.sizes()[d], 1), size,
             "an element to resample in dimension " + text(d));
    return;
  }
  case OpKind::NonMaxSuppression: {
    NonMaxSuppressionOp nms(op);
    const TensorType &boxes = nms.boxes()->type(),
                     &scores = nms.scores()->type();
    equal(boxes.dim(0), scores.dim(0), "one batch of boxes and scores");
    equal(boxes.dim(1), scores.dim(2), "a score for each box");
    return equal(boxes.dim(2), 4, "boxes of 4 numbers");
  }
  case OpKind::Lstm:
    return lstm(LstmOp(op));
  case OpKind::If:
    for (unsigned branch : {0, 1})
      for (auto [i, v] : llvm::enumerate(op->region(branch).outputs()))
        sameShape(v->type().shape, op->result(unsigned(i))->type().shape,
                  "results of the branches");
    return;
  case OpKind::Loop:
    return loop(LoopOp(op));
  default:
    return;
  }
}

llvm::Error recordAssumptions(Module &module) {
  Recorder(module).record(module.main());
  for (const Constraint &c : module.constraints)
    if (prove(c, module.symbols) == Proof::Refuted)
      return llvm::createStringError(c.sentence +
                                     ", which no sizes of the inputs give");
  return llvm::Error::success();
}

} // namespace dlc
