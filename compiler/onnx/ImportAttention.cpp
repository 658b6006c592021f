// SPDX-License-Identifier: Apache-2.0
// Attention as matrix products around a softmax, which a pass may fuse again.
#include "compiler/onnx/Operators.h"
#include <cmath>
#include <limits>

using namespace dlc;

namespace {

/// One Attention node. Logits, bias and softmax are f32 or wider.
class Attention {
public:
  Attention(NodeReader &n, NodeBuilder &b) : n(n), b(b) {}
  void run();

private:
  Value *splitHeads(Value *x, int64_t heads, llvm::StringRef name);
  Value *repeatHeads(Value *x, const Dim &heads);
  Value *withPast(Value *now, unsigned past);
  Value *mask(Value *given);
  Value *positions();
  void addBias(Value *condition); ///< 0 where it holds, -inf elsewhere
  double lowest() const { return -std::numeric_limits<double>::infinity(); }

  NodeReader &n;
  NodeBuilder &b;
  DataType wide = DataType::F32;
  Dim queries, keys;       // lengths of the sequences
  Value *valid = nullptr;  // valid keys per batch entry, [B, 1, 1, 1]
  Value *offset = nullptr; // keys before the first query, i64
  Value *bias = nullptr;
  bool mayBeEmpty = false; // may a query have no key at all?
};

} // namespace

/// [B, S, heads * D] as [B, heads, S, D]; rank 4 is that already.
Value *Attention::splitHeads(Value *x, int64_t heads, llvm::StringRef name) {
  const Shape &s = x->type().shape;
  if (s.size() == 4)
    return x;
  if (heads < 1 || (s[2].isConstant() && s[2].constant() % heads)) {
    n.error(name + " is " + x->type().str() +
            ", expected a last dimension that " + llvm::Twine(heads) +
            " heads divide");
    return nullptr;
  }
  Value *split = b.reshape(x, {s[0], s[1], Dim(heads), floorDiv(s[2], heads)});
  return b.transpose(split, {0, 2, 1, 3});
}

/// Each head of keys or values once for every query head that shares it.
Value *Attention::repeatHeads(Value *x, const Dim &heads) {
  if (n.failed())
    return nullptr;
  const Shape s = x->type().shape;
  if (s[1] == heads)
    return x;
  if (!s[1].isConstant() || !heads.isConstant() || s[1].isConstant(0) ||
      heads.constant() % s[1].constant()) {
    n.error("has " + heads.str() + " query heads and " + s[1].str() +
            " key heads, expected a multiple");
    return nullptr;
  }
  Dim times(heads.constant() / s[1].constant());
  Value *spread =
      b.broadcast(b.unsqueeze(x, {2}), {s[0], s[1], times, s[2], s[3]});
  return b.reshape(spread, {s[0], heads, s[2], s[3]});
}

Value *Attention::withPast(Value *now, unsigned past) {
  return n.hasInput(past) ? b.concat({n.input(past), now}, 2) : now;
}

void Attention::addBias(Value *condition) {
  Value *term =
      b.select(condition, b.scalar(wide, 0), b.scalar(wide, lowest()));
  bias = bias ? b.add(bias, term) : term;
}

/// The mask as something to add, keys that it leaves out masked.
Value *Attention::mask(Value *given) {
  bool isBool = given->type().element == DataType::Bool;
  int64_t rank = given->type().rank();
  if (rank < 1 || rank > 4) {
    n.error("attn_mask is " + given->type().str() +
            ", expected one that broadcasts to [batch, heads, queries, keys]");
    return nullptr;
  }
  Dim missing = keys - given->type().dim(-1);
  if (!missing.isConstant(0)) {
    if (!n.context.known.isAtLeast(missing, 0)) {
      n.error("attn_mask is " + given->type().str() + " for " + keys.str() +
              " keys, which it may exceed: fix the sizes with --shape");
      return nullptr;
    }
    std::vector<Dim> low(size_t(rank), Dim(0)), high = low;
    high.back() = missing;
    Value *fill =
        isBool ? b.scalar(DataType::Bool, 0) : b.like(given, lowest());
    given = b.emit<PadOp>(given, fill, low, high);
  }
  if (!isBool)
    return b.cast(given, wide);
  return b.select(given, b.scalar(wide, 0), b.scalar(wide, lowest()));
}

/// Key position less query position, i64, [Q, K] or [B, 1, Q, K].
Value *Attention::positions() {
  std::vector<Dim> down{queries, Dim(1)}, across{Dim(1), keys};
  Value *row = b.emit<IotaOp>(down, 0, DataType::I64);
  if (offset)
    row = b.add(row, offset);
  return b.sub(b.emit<IotaOp>(across, 1, DataType::I64), row);
}

void Attention::run() {
  Value *q = n.input(0), *k = n.input(1), *v = n.input(2);
  DataType type = q->type().element;
  bool causal = n.flag("is_causal", false);
  int64_t queryHeads = n.integer("q_num_heads", 0);
  int64_t keyHeads = n.integer("kv_num_heads", 0);
  int64_t mode = n.integer("qk_matmul_output_mode", 0);
  int64_t precision = n.integer("softmax_precision", 1);
  double softcap = n.real("softcap", 0), scale = n.real("scale", 0);
  bool hasScale = n.has("scale");
  int64_t left = n.opset() >= 25 ? n.integer("left_window_size", -1) : -1;
  int64_t right = n.opset() >= 25 ? n.integer("right_window_size", -1) : -1;
  int64_t rank = q->type().rank();
  if ((rank != 3 && rank != 4) || k->type().rank() != rank ||
      v->type().rank() != rank)
    return n.error("Q, K and V are " + q->type().str() + ", " +
                   k->type().str() + " and " + v->type().str() +
                   ", expected rank 3 or 4 for all");
  if (mode < 0 || mode > 3)
    return n.error("attribute \"qk_matmul_output_mode\" is " +
                   llvm::Twine(mode) + ", expected 0 to 3");
  if (n.hasInput(4) != n.hasInput(5) || (n.hasInput(6) && n.hasInput(4)))
    return n.error("expected past_key and past_value together, and "
                   "nonpad_kv_seqlen without them");
  wide = precision == 11 ? DataType::F64 : computeType(type);
  q = splitHeads(q, queryHeads, "Q");
  k = splitHeads(k, keyHeads, "K");
  v = splitHeads(v, keyHeads, "V");
  if (n.failed())
    return;
  Dim before = n.hasInput(4) && n.input(4)->type().rank() == 4
                   ? n.input(4)->type().shape[2]
                   : Dim(0);
  k = withPast(k, 4);
  v = withPast(v, 5);
  if (n.failed())
    return;
  n.result(1, k);
  n.result(2, v);
  const Shape shape = q->type().shape;
  queries = shape[2];
  keys = k->type().shape[2];
  if (!hasScale) {
    if (!shape[3].isConstant())
      return n.error("its head size " + shape[3].str() +
                     " is not known, and attribute \"scale\" is missing");
    scale = 1 / std::sqrt(double(shape[3].constant()));
  }

  if (n.hasInput(6)) {
    Value *lengths = n.input(6);
    if (lengths->type().rank() != 1)
      return n.error("nonpad_kv_seqlen is " + lengths->type().str() +
                     ", expected a vector");
    valid = b.reshape(b.cast(lengths, DataType::I64),
                      {lengths->type().shape[0], Dim(1), Dim(1), Dim(1)});
    offset = b.sub(valid, b.dim(queries, DataType::I64));
  } else if (!before.isConstant(0)) {
    offset = b.dim(before, DataType::I64);
  }
  if (n.hasInput(3)) {
    bias = mask(n.input(3));
    mayBeEmpty = true;
  }
  if (n.failed())
    return;
  Value *distance = causal || left >= 0 || right >= 0 ? positions() : nullptr;
  auto count = [&](int64_t i) { return b.dim(Dim(i), DataType::I64); };
  if (causal)
    addBias(b.emit<LessEqualOp>(distance, count(0)));
  if (left >= 0)
    addBias(b.emit<LessEqualOp>(count(-left), distance));
  if (right >= 0)
    addBias(b.emit<LessEqualOp>(distance, count(right)));
  if (valid) {
    std::vector<Dim> across{Dim(1), keys};
    addBias(b.emit<LessOp>(b.emit<IotaOp>(across, 1, DataType::I64), valid));
  }
  mayBeEmpty |= left >= 0 || right >= 0 || valid;

  k = repeatHeads(k, shape[1]);
  v = repeatHeads(v, shape[1]);
  std::optional<DataType> product =
      wide == type ? std::nullopt : std::optional(computeType(type));
  Value *logits = b.emit<MatMulOp>(q, k, false, true, product);
  if (!logits)
    return;
  logits = b.scale(b.cast(logits, wide), scale);
  Value *shown = logits;
  if (softcap > 0) {
    Value *cap = b.scalar(wide, softcap);
    logits = b.mul(b.emit<TanhOp>(b.div(logits, cap)), cap);
  }
  if (mode == 1)
    shown = logits;
  if (bias)
    logits = b.add(logits, bias);
  if (mode == 2)
    shown = logits;
  Value *share = b.softmax(logits, {3});
  if (bias && mayBeEmpty) {
    // A query that may see no key gives zeros.
    Value *most =
        b.reduce(bias, ReduceKind::Max, {bias ? bias->type().rank() - 1 : 0});
    Value *none = b.emit<EqualOp>(most, b.scalar(wide, lowest()));
    share = b.select(none, b.scalar(wide, 0), share);
  }
  if (mode == 3)
    shown = share;
  Value *y = b.emit<MatMulOp>(b.cast(share, type), v, false, false);
  if (y && rank == 3) {
    Dim size = y->type().shape[1] * y->type().shape[3];
    y = b.reshape(b.transpose(y, {0, 2, 1, 3}), {shape[0], queries, size});
  }
  n.result(0, y);
  n.result(3, b.cast(shown, type));
}

namespace dlc {

void importAttention(NodeReader &n, NodeBuilder &b) { Attention(n, b).run(); }

/// Pairs of the last dimension turned by an angle that the position gives.
void importRotaryEmbedding(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  const Shape shape = x->type().shape;
  bool interleaved = n.flag("interleaved", false);
  int64_t heads = n.integer("num_heads", 0);
  int64_t turned = n.integer("rotary_embedding_dim", 0);
  if (shape.size() != 3 && shape.size() != 4)
    return n.error("X is " + x->type().str() + ", expected rank 3 or 4");
  // [batch, sequence, heads, size]
  Value *y = x;
  if (shape.size() == 4) {
    y = b.transpose(x, {0, 2, 1, 3});
  } else {
    if (heads < 1 || !shape[2].isConstant() || shape[2].constant() % heads)
      return n.error("num_heads is " + llvm::Twine(heads) +
                     ", expected a divisor of the last dimension of " +
                     x->type().str());
    y = b.reshape(x,
                  {shape[0], shape[1], Dim(heads), floorDiv(shape[2], heads)});
  }
  if (!y)
    return;
  Dim size = y->type().shape[3];
  if (!size.isConstant())
    return n.error("the head size " + size.str() + " is not known");
  if (turned == 0)
    turned = size.constant();
  if (turned < 2 || turned % 2 || turned > size.constant())
    return n.error("rotary_embedding_dim is " + llvm::Twine(turned) +
                   ", expected an even number up to " + size.str());
  auto cache = [&](unsigned i) -> Value * {
    Value *values = b.widen(n.input(i));
    if (n.hasInput(3))
      values = b.emit<GatherOp>(values, n.input(3), 0);
    if (n.failed())
      return nullptr;
    if (values->type().rank() != 3) {
      n.error("input " + llvm::Twine(i) + " has type " +
              n.input(i)->type().str() +
              (n.hasInput(3) ? ", expected a matrix" : ", expected rank 3"));
      return nullptr;
    }
    return b.unsqueeze(values, {2});
  };
  Value *cosine = cache(1), *sine = cache(2);
  if (n.failed())
    return;
  Value *rest =
      size.isConstant(turned) ? nullptr : b.slice(y, 3, turned, size - turned);
  Value *wide = b.widen(b.slice(y, 3, 0, turned));
  if (!wide)
    return;
  std::vector<Dim> apart(wide->type().shape.begin(), wide->type().shape.end());
  int64_t half = turned / 2, axis = interleaved ? 4 : 3;
  apart[3] = interleaved ? half : 2;
  apart.push_back(interleaved ? 2 : half);
  std::vector<Dim> flat(wide->type().shape.begin(), wide->type().shape.end());
  std::vector<Dim> part = flat;
  part[3] = half;
  Value *pairs = b.reshape(wide, apart);
  Value *first = b.reshape(b.slice(pairs, axis, 0, 1), part);
  Value *second = b.reshape(b.slice(pairs, axis, 1, 1), part);
  Value *real = b.sub(b.mul(cosine, first), b.mul(sine, second));
  Value *imaginary = b.add(b.mul(sine, first), b.mul(cosine, second));
  Value *joined = b.reshape(
      b.concat({b.unsqueeze(real, {axis}), b.unsqueeze(imaginary, {axis})},
               axis),
      flat);
  joined = b.cast(joined, x->type().element);
  if (rest)
    joined = b.concat({joined, rest}, 3);
  n.result(shape.size() == 4 ? b.transpose(joined, {0, 2, 1, 3})
                             : b.reshape(joined, shape));
}

} // namespace dlc
