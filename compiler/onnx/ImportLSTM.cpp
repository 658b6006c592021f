// SPDX-License-Identifier: Apache-2.0
// LSTM.
#include "compiler/onnx/Operators.h"
#include "llvm/ADT/StringExtras.h"

using namespace dlc;

namespace dlc {

void importLSTM(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *w = n.input(1), *r = n.input(2);
  if (x->type().rank() != 3 || w->type().rank() != 3 || r->type().rank() != 3)
    return n.error("X, W and R are " + x->type().str() + ", " +
                   w->type().str() + " and " + r->type().str() +
                   ", expected rank 3 each");
  Direction direction = n.choice("direction", Direction::Forward,
                                 {{"forward", Direction::Forward},
                                  {"reverse", Direction::Reverse},
                                  {"bidirectional", Direction::Bidirectional}});
  size_t directions = direction == Direction::Bidirectional ? 2 : 1;
  std::optional<int64_t> size = r->type().shape[2].tryConstant();
  int64_t hidden = n.integer("hidden_size", size.value_or(0));
  if (!size || hidden != *size)
    return n.error("hidden_size is " + llvm::Twine(hidden) + ", R is " +
                   r->type().str());
  std::vector<std::string> names = n.texts("activations");
  if (names.empty())
    for (size_t i = 0; i < directions; ++i)
      for (const char *name : {"Sigmoid", "Tanh", "Tanh"})
        names.push_back(name);
  if (names.size() != 3 * directions)
    return n.error("activations has " + llvm::Twine(names.size()) +
                   " names, expected " + llvm::Twine(3 * directions));
  for (std::string &name : names)
    name = llvm::StringRef(name).lower();
  std::vector<double> alpha = n.reals("activation_alpha");
  std::vector<double> beta = n.reals("activation_beta");
  double clip = n.real("clip", 0);
  bool inputForget = n.flag("input_forget", false);
  bool batchFirst = n.opset() >= 14 && n.flag("layout", false);
  Value *optional[5] = {};
  for (unsigned i = 3; i < 8; ++i)
    if (n.hasInput(i))
      optional[i - 3] = n.input(i);
  auto [bias, lengths, h, c, peepholes] = optional;
  auto timeFirst = [&](Value *v) {
    return batchFirst && v ? b.transpose(v, {1, 0, 2}) : v;
  };
  if ((h && h->type().rank() != 3) || (c && c->type().rank() != 3))
    return n.error("the initial states need rank 3");
  LstmOp op = b.emitOp<LstmOp>(timeFirst(x), w, r, bias, lengths, timeFirst(h),
                               timeFirst(c), peepholes, hidden, direction,
                               names, alpha, beta, clip, inputForget);
  if (!op)
    return;
  Value *y = op.result(0);
  n.result(0, batchFirst ? b.transpose(y, {2, 0, 1, 3}) : y);
  n.result(1, timeFirst(op.result(1)));
  n.result(2, timeFirst(op.result(2)));
}

} // namespace dlc
