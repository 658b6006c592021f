// SPDX-License-Identifier: Apache-2.0
// Types of ops that are driven by indices, and of recurrences.
#include "ir/infer/Helpers.h"

namespace dlc {

InferResult inferGather(const Op &op) {
  GatherOp gather(const_cast<Op *>(&op));
  const TensorType &in = gather.input()->type();
  llvm::ArrayRef<Dim> indices = gather.indices()->type().shape;
  if (llvm::Error e = checkAxis(op, gather.axis(), in.rank()))
    return e;
  Shape shape(in.shape.begin(), in.shape.begin() + gather.axis());
  shape.append(indices.begin(), indices.end());
  shape.append(in.shape.begin() + gather.axis() + 1, in.shape.end());
  return ResultTypes{in.withShape(shape)};
}

InferResult inferGatherElements(const Op &op) {
  GatherElementsOp gather(const_cast<Op *>(&op));
  const TensorType &in = gather.input()->type();
  const TensorType &indices = gather.indices()->type();
  if (llvm::Error e = checkAxis(op, gather.axis(), in.rank()))
    return e;
  if (indices.rank() != in.rank())
    return opError(op, "input and indices must have one rank, found " +
                           llvm::Twine(in.rank()) + " and " +
                           llvm::Twine(indices.rank()));
  return ResultTypes{in.withShape(indices.shape)};
}

InferResult inferGatherNd(const Op &op) {
  GatherNdOp gather(const_cast<Op *>(&op));
  const TensorType &in = gather.input()->type();
  const TensorType &indices = gather.indices()->type();
  int64_t batch = gather.batchDims();
  if (indices.rank() == 0 || batch < 0 || batch >= indices.rank() ||
      batch > in.rank())
    return opError(op, "batchDims is " + llvm::Twine(batch) +
                           " with an input of rank " + llvm::Twine(in.rank()) +
                           " and indices of rank " +
                           llvm::Twine(indices.rank()));
  std::optional<int64_t> depth = indices.dim(-1).tryConstant();
  if (!depth)
    return opError(op, "the last dimension of indices must be known, found " +
                           indices.dim(-1).str());
  if (*depth > in.rank() - batch)
    return opError(op, "index tuples of " + llvm::Twine(*depth) +
                           " for an input of rank " + llvm::Twine(in.rank()));
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.append(in.shape.begin() + batch + *depth, in.shape.end());
  return ResultTypes{in.withShape(shape)};
}

InferResult inferResize(const Op &op) {
  ResizeOp resize(const_cast<Op *>(&op));
  const TensorType &in = resize.input()->type();
  size_t rank = in.shape.size();
  if (llvm::Error e = checkLength(op, "sizes", resize.sizes().size(), rank))
    return e;
  if (!resize.scales().empty())
    if (llvm::Error e = checkLength(op, "scales", resize.scales().size(), rank))
      return e;
  bool crop = resize.coordinates() == CoordinateMode::TfCropAndResize;
  if (llvm::Error e =
          checkLength(op, "roi", resize.roi().size(), crop ? 2 * rank : 0))
    return e;
  return ResultTypes{in.withShape(resize.sizes())};
}

InferResult inferNonMaxSuppression(const Op &op) {
  NonMaxSuppressionOp nms(const_cast<Op *>(&op));
  const TensorType &boxes = nms.boxes()->type(), &scores = nms.scores()->type();
  if (boxes.rank() != 3 || scores.rank() != 3)
    return opError(op, "boxes [batch, box, 4] and scores [batch, class, box] "
                       "expected, found " +
                           boxes.str() + " and " + scores.str());
  if (llvm::Error e = checkEqual(op, "batches", boxes.dim(0), scores.dim(0)))
    return e;
  if (llvm::Error e =
          checkEqual(op, "numbers of boxes", boxes.dim(1), scores.dim(2)))
    return e;
  if (llvm::Error e =
          checkEqual(op, "the size of a box and 4", boxes.dim(2), 4))
    return e;
  return ResultTypes{
      TensorType(DataType::I64, {Dim::symbol(nms.countSymbol()), 3})};
}

InferResult inferNonZero(const Op &op) {
  NonZeroOp nonzero(const_cast<Op *>(&op));
  return ResultTypes{
      TensorType(DataType::I64, {nonzero.input()->type().rank(),
                                 Dim::symbol(nonzero.countSymbol())})};
}

InferResult inferLstm(const Op &op) {
  LstmOp lstm(const_cast<Op *>(&op));
  const TensorType &x = lstm.x()->type(), &w = lstm.w()->type(),
                   &r = lstm.r()->type();
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3)
    return opError(op, "x, w and r of rank 3 expected, found " + x.str() +
                           ", " + w.str() + " and " + r.str());
  Dim directions = lstm.direction() == Direction::Bidirectional ? 2 : 1;
  Dim hidden = lstm.hidden();
  auto checkShape = [&](llvm::StringRef name, Value *v,
                        llvm::ArrayRef<Dim> expected) -> llvm::Error {
    if (!v)
      return llvm::Error::success();
    llvm::ArrayRef<Dim> found = v->type().shape;
    bool fits = found.size() == expected.size();
    for (size_t i = 0; fits && i != found.size(); ++i)
      fits = provedEqual(found[i], expected[i]) != Proof::Refuted;
    if (fits)
      return llvm::Error::success();
    return opError(op, name + " must be " + shapeText(expected) + ", found " +
                           shapeText(found));
  };
  if (llvm::Error e =
          checkShape("w", lstm.w(), {directions, hidden * 4, x.dim(2)}))
    return e;
  if (llvm::Error e =
          checkShape("r", lstm.r(), {directions, hidden * 4, hidden}))
    return e;
  if (llvm::Error e = checkShape("b", lstm.b(), {directions, hidden * 8}))
    return e;
  if (llvm::Error e = checkShape("lengths", lstm.lengths(), {x.dim(1)}))
    return e;
  if (llvm::Error e = checkShape("initialH", lstm.initialH(),
                                 {directions, x.dim(1), hidden}))
    return e;
  if (llvm::Error e = checkShape("initialC", lstm.initialC(),
                                 {directions, x.dim(1), hidden}))
    return e;
  if (llvm::Error e = checkShape("p", lstm.p(), {directions, hidden * 3}))
    return e;
  TensorType state(x.element, {directions, x.dim(1), hidden});
  return ResultTypes{
      TensorType(x.element, {x.dim(0), directions, x.dim(1), hidden}), state,
      state};
}

} // namespace dlc
