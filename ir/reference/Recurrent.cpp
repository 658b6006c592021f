// SPDX-License-Identifier: Apache-2.0
// Recurrences, in f64 from end to end and rounded once.
#include "ir/reference/Walk.h"
#include "ir/scalar/Scalar.h"

#include <cmath>

namespace dlc::reference {

namespace {

/// An activation with the parameters that it takes from alpha and beta.
struct Activation {
  std::string name;
  double alpha = 0, beta = 0;

  double operator()(double x) const {
    if (name == "sigmoid")
      return scalar::sigmoid(x);
    if (name == "tanh")
      return std::tanh(x);
    if (name == "relu")
      return scalar::relu(x);
    if (name == "affine")
      return alpha * x + beta;
    if (name == "leakyrelu")
      return x >= 0 ? x : alpha * x;
    if (name == "thresholdedrelu")
      return x >= alpha ? x : 0;
    if (name == "scaledtanh")
      return alpha * std::tanh(beta * x);
    if (name == "hardsigmoid")
      return scalar::min(scalar::max(alpha * x + beta, 0.0), 1.0);
    if (name == "elu")
      return x >= 0 ? x : alpha * std::expm1(x);
    if (name == "softsign")
      return x / (1 + std::fabs(x));
    return std::log1p(std::exp(-std::fabs(x))) + scalar::relu(x); // softplus
  }
};

struct Parameters {
  const char *name;
  bool alpha, beta;
  double defaultAlpha, defaultBeta;
};
// ONNX, "Activation functions" of LSTM.
constexpr Parameters kActivations[] = {
    {"sigmoid", false, false, 0, 0},     {"tanh", false, false, 0, 0},
    {"relu", false, false, 0, 0},        {"affine", true, true, 1, 0},
    {"leakyrelu", true, false, 0.01, 0}, {"thresholdedrelu", true, false, 1, 0},
    {"scaledtanh", true, true, 1, 1},    {"hardsigmoid", true, true, 0.2, 0.5},
    {"elu", true, false, 1, 0},          {"softsign", false, false, 0, 0},
    {"softplus", false, false, 0, 0}};

/// f, g, h of each direction; alpha and beta go to those that take one, in
/// order.
Expected<std::vector<Activation>> activations(const Context &c,
                                              const LstmOp &op) {
  std::vector<Activation> result;
  size_t alpha = 0, beta = 0;
  for (const std::string &name : op.activations()) {
    const auto *known = llvm::find_if(
        kActivations, [&](const Parameters &p) { return name == p.name; });
    if (known == std::end(kActivations))
      return c.error("unknown activation \"" + name + "\"");
    Activation a{name, known->defaultAlpha, known->defaultBeta};
    if (known->alpha && alpha < op.alpha().size())
      a.alpha = op.alpha()[alpha++];
    if (known->beta && beta < op.beta().size())
      a.beta = op.beta()[beta++];
    result.push_back(a);
  }
  return result;
}

/// Operand i as f64; zeros of `count` where absent.
std::vector<double> read(const Context &c, unsigned i, int64_t count) {
  std::vector<double> result(count, 0.0);
  if (c.has(i)) {
    for (int64_t k = 0; k < count; k++)
      result[k] = c.input(i).floatAt(k);
  }
  return result;
}

double dot(const double *a, const double *b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/// One direction of an LSTM for one sequence of the batch.
struct Cell {
  int64_t inputs, hidden;
  const double *w, *r, *b, *p; ///< gates in the order i, o, f, c
  Activation f, g, h;
  double clip;
  bool coupled;
  double *hidState, *cellState; ///< [H] each: before, then after the step

  double limited(double x) const {
    return clip > 0 ? scalar::max(scalar::min(x, clip), -clip) : x;
  }
  void step(const double *x) {
    std::vector<double> gates(4 * hidden);
    for (int64_t k = 0; k < 4 * hidden; k++)
      gates[k] = dot(w + k * inputs, x, inputs) +
                 dot(r + k * hidden, hidState, hidden) + b[k] +
                 b[4 * hidden + k];
    for (int64_t k = 0; k < hidden; k++) {
      double before = cellState[k];
      double i = f(limited(gates[k] + p[k] * before));
      double forget =
          coupled
              ? 1 - i
              : f(limited(gates[2 * hidden + k] + p[2 * hidden + k] * before));
      double c = g(limited(gates[3 * hidden + k]));
      double after = forget * before + i * c;
      double o = f(limited(gates[hidden + k] + p[hidden + k] * after));
      cellState[k] = after;
      hidState[k] = o * h(after);
    }
  }
};

} // namespace

Expected<Tensors> evaluateLstm(const Context &c) {
  auto op = llvm::cast<LstmOp>(&c.op);
  const Tensor &input = c.input(0);
  int64_t steps = input.shape()[0], batch = input.shape()[1];
  int64_t inputs = input.shape()[2], hidden = op.hidden();
  int64_t directions = c.input(1).shape()[0];
  Expected<std::vector<Activation>> functions = activations(c, op);
  if (!functions)
    return functions.takeError();
  // Sizes that were symbols may turn out not to fit.
  int64_t states = directions * batch * hidden;
  const int64_t counts[] = {steps * batch * inputs,
                            directions * 4 * hidden * inputs,
                            directions * 4 * hidden * hidden,
                            directions * 8 * hidden,
                            batch,
                            states,
                            states,
                            directions * 3 * hidden};
  for (unsigned i = 0; i < 8; i++)
    if (c.has(i) && c.input(i).elements() != counts[i])
      return c.error("operand " + llvm::Twine(i) + " has shape " +
                     shapeText(c.input(i).shape()) + ", expected " +
                     llvm::Twine(counts[i]) + " elements");
  std::vector<double> x = read(c, 0, steps * batch * inputs);
  std::vector<double> w = read(c, 1, directions * 4 * hidden * inputs);
  std::vector<double> r = read(c, 2, directions * 4 * hidden * hidden);
  std::vector<double> b = read(c, 3, directions * 8 * hidden);
  std::vector<double> hs = read(c, 5, directions * batch * hidden);
  std::vector<double> cs = read(c, 6, directions * batch * hidden);
  std::vector<double> p = read(c, 7, directions * 3 * hidden);
  // Sums in f64: whatever the storage type, results round once.
  Tensor y(DataType::F64, {steps, directions, batch, hidden});
  double *all = y.as<double>();
  for (int64_t d = 0; d < directions; d++)
    for (int64_t n = 0; n < batch; n++) {
      bool reverse = d == 1 || op.direction() == Direction::Reverse;
      int64_t length = c.has(4) ? c.input(4).intAt(n) : steps;
      length = std::clamp<int64_t>(length, 0, steps);
      int64_t state = (d * batch + n) * hidden;
      Cell cell{inputs,
                hidden,
                &w[d * 4 * hidden * inputs],
                &r[d * 4 * hidden * hidden],
                &b[d * 8 * hidden],
                &p[d * 3 * hidden],
                (*functions)[d * 3],
                (*functions)[d * 3 + 1],
                (*functions)[d * 3 + 2],
                op.clip(),
                op.inputForget(),
                &hs[state],
                &cs[state]};
      for (int64_t k = 0; k < length; k++) {
        int64_t t = reverse ? length - 1 - k : k;
        cell.step(&x[(t * batch + n) * inputs]);
        std::copy_n(&hs[state], hidden,
                    all + ((t * directions + d) * batch + n) * hidden);
      }
    }
  Tensor lastH(DataType::F64, {directions, batch, hidden}), lastC = lastH;
  llvm::copy(hs, lastH.as<double>());
  llvm::copy(cs, lastC.as<double>());
  return Tensors{y, lastH, lastC};
}

} // namespace dlc::reference
