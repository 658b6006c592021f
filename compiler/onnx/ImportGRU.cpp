// SPDX-License-Identifier: Apache-2.0
// GRU and RNN, step by step.
#include "compiler/onnx/Operators.h"
#include "compiler/onnx/Recurrence.h"

using namespace dlc;

namespace {

struct Activation {
  std::string name; ///< lower case
  double alpha = 0, beta = 0;
};

/// Everything about one node that its directions share.
class Recurrent {
public:
  Recurrent(NodeReader &n, NodeBuilder &b, int64_t gates)
      : n(n), b(b), gates(gates) {}
  void run();

private:
  bool readActivations();
  Value *apply(NodeBuilder &b, const Activation &f, Value *x);
  Value *direction(size_t d, bool backwards, Value *&last);
  Value *gru(Step &s, Value *now, Value *before, Value *weights, Value *bias,
             size_t d);
  Value *pick(Value *x, size_t d); ///< one direction's part
  Value *gate(NodeBuilder &b, Value *x, int64_t i, int64_t axis) {
    return b.slice(x, axis, i * hidden, hidden);
  }

  NodeReader &n;
  NodeBuilder &b;
  int64_t gates, hidden = 0;
  double clip = 0;
  bool linearBeforeReset = false;
  std::vector<Activation> activations; // per direction: f, g
  Value *x = nullptr, *lengths = nullptr, *initial = nullptr;
  DataType wide = DataType::F32;
};

} // namespace

bool Recurrent::readActivations() {
  size_t each = gates == 3 ? 2 : 1;
  std::string direction = n.text("direction", "forward");
  size_t directions = direction == "bidirectional" ? 2 : 1;
  if (direction != "forward" && direction != "reverse" && directions == 1) {
    n.error("attribute \"direction\" is \"" + direction +
            "\", supported are forward, reverse, bidirectional");
    return false;
  }
  std::vector<std::string> names = n.texts("activations");
  std::vector<double> alpha = n.reals("activation_alpha");
  std::vector<double> beta = n.reals("activation_beta");
  if (names.empty())
    for (size_t i = 0; i < directions; ++i) {
      if (each == 2)
        names.push_back("Sigmoid");
      names.push_back("Tanh");
    }
  if (names.size() != each * directions) {
    n.error("activations has " + llvm::Twine(names.size()) +
            " names, expected " + llvm::Twine(each * directions));
    return false;
  }
  // Alphas and betas stand in order for those functions that have them.
  size_t nextAlpha = 0, nextBeta = 0;
  auto take = [](const std::vector<double> &list, size_t &next,
                 double otherwise) {
    return next < list.size() ? list[next++] : otherwise;
  };
  for (const std::string &name : names) {
    Activation f{llvm::StringRef(name).lower()};
    if (f.name == "leakyrelu")
      f.alpha = take(alpha, nextAlpha, 0.01);
    else if (f.name == "elu" || f.name == "thresholdedrelu")
      f.alpha = take(alpha, nextAlpha, 1);
    else if (f.name == "hardsigmoid" || f.name == "affine" ||
             f.name == "scaledtanh") {
      bool hard = f.name == "hardsigmoid";
      f.alpha = take(alpha, nextAlpha, hard ? 0.2 : 1);
      f.beta = take(beta, nextBeta, hard ? 0.5 : f.name == "affine" ? 0 : 1);
    } else if (f.name != "sigmoid" && f.name != "tanh" && f.name != "relu" &&
               f.name != "softsign" && f.name != "softplus") {
      n.error("activation \"" + name + "\" is not supported");
      return false;
    }
    activations.push_back(f);
  }
  return true;
}

Value *Recurrent::apply(NodeBuilder &b, const Activation &f, Value *x) {
  if (clip > 0)
    x = b.max(b.min(x, b.like(x, clip)), b.like(x, -clip));
  if (f.name == "sigmoid")
    return b.emit<SigmoidOp>(x);
  if (f.name == "tanh")
    return b.emit<TanhOp>(x);
  if (f.name == "relu")
    return b.emit<ReluOp>(x);
  if (f.name == "affine")
    return b.addTo(b.scale(x, f.alpha), f.beta);
  if (f.name == "scaledtanh")
    return b.scale(b.emit<TanhOp>(b.scale(x, f.beta)), f.alpha);
  if (f.name == "hardsigmoid") {
    Value *line = b.addTo(b.scale(x, f.alpha), f.beta);
    return b.max(b.min(line, b.like(x, 1)), b.like(x, 0));
  }
  if (f.name == "softsign")
    return b.div(x, b.addTo(b.emit<AbsOp>(x), 1));
  if (f.name == "softplus") {
    Value *power = b.emit<ExpOp>(b.emit<NegOp>(b.emit<AbsOp>(x)));
    return b.add(b.emit<ReluOp>(x), b.emit<Log1pOp>(power));
  }
  Value *negative = b.emit<LessOp>(x, b.like(x, 0));
  if (f.name == "leakyrelu")
    return b.select(negative, b.scale(x, f.alpha), x);
  if (f.name == "elu")
    return b.select(negative, b.scale(b.emit<Expm1Op>(x), f.alpha), x);
  return b.select(b.emit<LessOp>(b.like(x, f.alpha), x), x, b.like(x, 0));
}

Value *Recurrent::pick(Value *v, size_t d) {
  if (n.failed())
    return nullptr;
  std::vector<Dim> shape(v->type().shape.begin() + 1, v->type().shape.end());
  return b.reshape(b.slice(v, 0, int64_t(d), 1), shape);
}

/// The next state of a GRU: gates z, r, h in ONNX's order.
Value *Recurrent::gru(Step &s, Value *now, Value *before, Value *weights,
                      Value *bias, size_t d) {
  const Activation &f = activations[2 * d], &g = activations[2 * d + 1];
  NodeBuilder &b = s.b;
  auto recurrent = [&](Value *state, int64_t i) {
    Value *y = b.emit<MatMulOp>(state, gate(b, weights, i, 0), false, true);
    return bias ? b.add(y, gate(b, bias, i, 0)) : y;
  };
  Value *z = apply(b, f, b.add(gate(b, now, 0, 1), recurrent(before, 0)));
  Value *r = apply(b, f, b.add(gate(b, now, 1, 1), recurrent(before, 1)));
  Value *part = linearBeforeReset ? b.mul(r, recurrent(before, 2))
                                  : recurrent(b.mul(r, before), 2);
  Value *h = apply(b, g, b.add(gate(b, now, 2, 1), part));
  return b.add(b.mul(b.sub(b.like(z, 1), z), h), b.mul(z, before));
}

/// Results of all steps, [S, B, H] in the order of the input.
Value *Recurrent::direction(size_t d, bool backwards, Value *&last) {
  Value *w = pick(b.widen(n.input(1)), d), *r = pick(b.widen(n.input(2)), d);
  Value *inputBias = nullptr, *bias = nullptr;
  if (n.hasInput(3)) {
    Value *both = pick(b.widen(n.input(3)), d);
    inputBias = b.slice(both, 0, 0, gates * hidden);
    bias = b.slice(both, 0, gates * hidden, gates * hidden);
  }
  // What the inputs give, for all steps at once.
  Value *given = b.emit<MatMulOp>(x, b.transpose(w, {1, 0}), false, false);
  if (inputBias)
    given = b.add(given, inputBias);
  if (n.failed())
    return nullptr;
  const Shape shape = x->type().shape;
  Value *start = initial
                     ? pick(initial, d)
                     : b.broadcast(b.scalar(wide, 0), {shape[1], Dim(hidden)});
  auto step = [&](Step &s) -> std::optional<std::pair<Values, Values>> {
    Value *now = s.at(given, 0, backwards), *before = s.states[0];
    Value *weights = s.outer(r),
          *recurrentBias = bias ? s.outer(bias) : nullptr;
    Value *next;
    if (gates == 3) {
      next = gru(s, now, before, weights, recurrentBias, d);
    } else {
      Value *sum =
          s.b.add(now, s.b.emit<MatMulOp>(before, weights, false, true));
      if (recurrentBias)
        sum = s.b.add(sum, recurrentBias);
      next = apply(s.b, activations[d], sum);
    }
    Value *shown = next;
    if (lengths) {
      // Past its end a sequence keeps its state and gives zeros.
      Value *runs = s.b.emit<LessOp>(s.position(backwards), s.outer(lengths));
      next = s.b.select(runs, next, before);
      shown = s.b.select(runs, shown, s.b.scalar(wide, 0));
    }
    if (n.failed())
      return std::nullopt;
    return std::pair(Values{next}, Values{shown});
  };
  if (n.failed())
    return nullptr;
  std::optional<Values> all = repeat(n, b, shape[0], Values{start}, step);
  if (!all)
    return nullptr;
  last = (*all)[0];
  if (!backwards)
    return (*all)[1];
  std::vector<Dim> starts{shape[0] - 1, Dim(0), Dim(0)};
  std::vector<Dim> sizes{shape[0], shape[1], Dim(hidden)};
  std::vector<int64_t> steps{-1, 1, 1};
  return b.emit<SliceOp>((*all)[1], starts, sizes, steps);
}

void Recurrent::run() {
  x = n.input(0);
  DataType type = x->type().element;
  const TensorType &r = n.input(2)->type();
  for (unsigned i = 0; i < 3; ++i)
    if (n.input(i)->type().rank() != 3 || !isFloat(n.input(i)->type().element))
      return n.error("input " + llvm::Twine(i) + " has type " +
                     n.input(i)->type().str() +
                     ", expected a floating-point tensor of rank 3");
  std::optional<int64_t> size = r.shape[2].tryConstant();
  hidden = n.integer("hidden_size", size.value_or(0));
  if (!size || hidden != *size || hidden < 1)
    return n.error("hidden_size is " + llvm::Twine(hidden) + ", R is " +
                   r.str());
  clip = n.real("clip", 0);
  linearBeforeReset = gates == 3 && n.flag("linear_before_reset", false);
  bool batchFirst = n.opset() >= 14 && n.flag("layout", false);
  if (!readActivations())
    return;
  wide = computeType(type);
  x = b.widen(batchFirst ? b.transpose(x, {1, 0, 2}) : x);
  if (n.hasInput(4)) {
    Value *given = b.cast(n.input(4), DataType::I64);
    if (given)
      lengths = b.reshape(given, {given->type().elementCount(), Dim(1)});
  }
  if (n.hasInput(5)) {
    initial = b.widen(n.input(5));
    if (n.input(5)->type().rank() != 3)
      return n.error("the initial state is " + n.input(5)->type().str() +
                     ", expected rank 3");
    initial = batchFirst ? b.transpose(initial, {1, 0, 2}) : initial;
  }
  std::string name = n.text("direction", "forward");
  std::vector<bool> backwards{name == "reverse"};
  if (name == "bidirectional")
    backwards = {false, true};
  Values outputs, states;
  for (size_t d = 0; d < backwards.size(); ++d) {
    Value *last = nullptr;
    Value *y = direction(d, backwards[d], last);
    if (!y)
      return;
    outputs.push_back(b.unsqueeze(y, {1}));
    states.push_back(b.unsqueeze(last, {0}));
  }
  Value *y = b.cast(b.concat(outputs, 1), type);
  Value *h = b.cast(b.concat(states, 0), type);
  n.result(0, batchFirst ? b.transpose(y, {2, 0, 1, 3}) : y);
  n.result(1, batchFirst ? b.transpose(h, {1, 0, 2}) : h);
}

namespace dlc {
void importGRU(NodeReader &n, NodeBuilder &b) { Recurrent(n, b, 3).run(); }
void importRNN(NodeReader &n, NodeBuilder &b) { Recurrent(n, b, 1).run(); }
} // namespace dlc
