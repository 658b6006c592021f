// SPDX-License-Identifier: Apache-2.0
// Types of contractions and windows.
#include "ir/infer/Helpers.h"

namespace dlc {

InferResult inferMatMul(const Op &op) {
  MatMulOp matmul(const_cast<Op *>(&op));
  const TensorType &lhs = matmul.lhs()->type(), &rhs = matmul.rhs()->type();
  int64_t lk = matmul.transposeLhs() ? -2 : -1;
  int64_t rk = matmul.transposeRhs() ? -1 : -2;
  if (llvm::Error e =
          checkEqual(op, "inner dimensions", lhs.dim(lk), rhs.dim(rk)))
    return e;
  llvm::ArrayRef<Dim> a = lhs.shape, b = rhs.shape;
  std::optional<Shape> shape = broadcastShapes(a.drop_back(2), b.drop_back(2));
  if (!shape)
    return opError(op, "batch dimensions " + shapeText(a.drop_back(2)) +
                           " and " + shapeText(b.drop_back(2)) +
                           " cannot be broadcast");
  shape->push_back(lhs.dim(-3 - lk)); // the other of the last two
  shape->push_back(rhs.dim(-3 - rk));
  return ResultTypes{
      TensorType(matmul.resultType().value_or(lhs.element), *shape)};
}

InferResult inferAttention(const Op &op) {
  AttentionOp attention(const_cast<Op *>(&op));
  const TensorType &q = attention.q()->type(), &k = attention.k()->type(),
                   &v = attention.v()->type();
  if (llvm::Error e = checkEqual(op, "depths of q and k", q.dim(-1), k.dim(-1)))
    return e;
  if (llvm::Error e = checkEqual(op, "rows of k and v", k.dim(-2), v.dim(-2)))
    return e;
  Shape shape;
  for (const TensorType *type : {&q, &k, &v}) {
    llvm::ArrayRef<Dim> batch = llvm::ArrayRef(type->shape).drop_back(2);
    std::optional<Shape> both = broadcastShapes(shape, batch);
    if (!both)
      return opError(op, "batch dimensions " + shapeText(shape) + " and " +
                             shapeText(batch) + " cannot be broadcast");
    shape = *both;
  }
  if (attention.bias()) {
    const Shape &bias = attention.bias()->type().shape;
    Shape scores = shape;
    scores.push_back(q.dim(-2));
    scores.push_back(k.dim(-2));
    std::optional<Shape> both = broadcastShapes(scores, bias);
    bool same = both && both->size() == scores.size();
    for (size_t i = 0; same && i != scores.size(); ++i)
      same = provedEqual((*both)[i], scores[i]) != Proof::Refuted;
    if (!same)
      return opError(op, "the bias " + shapeText(bias) +
                             " cannot be broadcast to the scores " +
                             shapeText(scores));
  }
  shape.push_back(q.dim(-2));
  shape.push_back(v.dim(-1));
  return ResultTypes{TensorType(v.element, shape)};
}

/// The lists of a convolution: one entry per spatial dimension.
template <class T> static llvm::Error checkLists(const Op &op, T conv) {
  size_t spatial = conv.input()->type().shape.size() - 2;
  if (llvm::Error e =
          checkLength(op, "strides", conv.strides().size(), spatial))
    return e;
  if (llvm::Error e = checkLength(op, "padLow", conv.padLow().size(), spatial))
    return e;
  if (llvm::Error e =
          checkLength(op, "padHigh", conv.padHigh().size(), spatial))
    return e;
  if (llvm::Error e =
          checkLength(op, "dilations", conv.dilations().size(), spatial))
    return e;
  for (size_t i = 0; i != spatial; ++i)
    if (conv.strides()[i] < 1 || conv.dilations()[i] < 1)
      return opError(op, "strides and dilations must be 1 or more");
  return llvm::Error::success();
}

InferResult inferConv(const Op &op) {
  ConvOp conv(const_cast<Op *>(&op));
  const TensorType &in = conv.input()->type(), &w = conv.filter()->type();
  if (llvm::Error e = checkLists(op, conv))
    return e;
  if (llvm::Error e = checkEqual(op, "channels of input and filter", in.dim(1),
                                 w.dim(1) * conv.groups()))
    return e;
  if (w.dim(0).isConstant() && w.dim(0).constant() % conv.groups() != 0)
    return opError(op, w.dim(0).str() + " filters cannot be split into " +
                           llvm::Twine(conv.groups()) + " groups");
  Shape shape{in.dim(0), w.dim(0)};
  for (int64_t d = 2; d != in.rank(); ++d)
    shape.push_back(windowCount(in.dim(d), w.dim(d), conv.strides()[d - 2],
                                conv.padLow()[d - 2], conv.padHigh()[d - 2],
                                conv.dilations()[d - 2]));
  return ResultTypes{TensorType(conv.resultType().value_or(in.element), shape)};
}

InferResult inferConvTranspose(const Op &op) {
  ConvTransposeOp conv(const_cast<Op *>(&op));
  const TensorType &in = conv.input()->type(), &w = conv.filter()->type();
  if (llvm::Error e = checkLists(op, conv))
    return e;
  if (llvm::Error e = checkLength(op, "outputPadding",
                                  conv.outputPadding().size(), in.rank() - 2))
    return e;
  if (llvm::Error e =
          checkEqual(op, "channels of input and filter", in.dim(1), w.dim(0)))
    return e;
  if (in.dim(1).isConstant() && in.dim(1).constant() % conv.groups() != 0)
    return opError(op, in.dim(1).str() + " channels cannot be split into " +
                           llvm::Twine(conv.groups()) + " groups");
  Shape shape{in.dim(0), w.dim(1) * conv.groups()};
  for (int64_t d = 2; d != in.rank(); ++d) {
    size_t i = d - 2;
    shape.push_back((in.dim(d) - 1) * conv.strides()[i] +
                    (w.dim(d) - 1) * conv.dilations()[i] + 1 +
                    conv.outputPadding()[i] - conv.padLow()[i] -
                    conv.padHigh()[i]);
  }
  return ResultTypes{TensorType(in.element, shape)};
}

InferResult inferPool(const Op &op) {
  PoolOp pool(const_cast<Op *>(&op));
  const TensorType &in = pool.input()->type();
  size_t rank = in.shape.size();
  for (auto [name, list] : {std::pair("window", &pool.window()),
                            {"strides", &pool.strides()},
                            {"padLow", &pool.padLow()},
                            {"padHigh", &pool.padHigh()},
                            {"dilations", &pool.dilations()}})
    if (llvm::Error e = checkLength(op, name, list->size(), rank))
      return e;
  if (!pool.ceilExtra().empty())
    if (llvm::Error e =
            checkLength(op, "ceilExtra", pool.ceilExtra().size(), rank))
      return e;
  Shape shape;
  for (size_t d = 0; d != rank; ++d) {
    if (pool.window()[d] < 1 || pool.strides()[d] < 1 ||
        pool.dilations()[d] < 1)
      return opError(op, "window, strides and dilations must be 1 or more");
    shape.push_back(windowCount(in.dim(d), pool.window()[d], pool.strides()[d],
                                pool.padLow()[d], pool.padHigh()[d],
                                pool.dilations()[d]));
  }
  return ResultTypes{TensorType(in.element, shape)};
}

} // namespace dlc
