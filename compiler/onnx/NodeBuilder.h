// SPDX-License-Identifier: Apache-2.0
// Emits the ops that one ONNX node stands for.
#pragma once

#include "compiler/onnx/NodeReader.h"
#include <array>
#include <tuple>

namespace dlc {

/// Short names for the ops that compositions are made of. A fault that type
/// inference finds becomes the node's error; from then on every call returns
/// null and does nothing, so that an importer reads like its formula. Only a
/// value that came from the node, or was checked, may be asked for its type.
class NodeBuilder {
public:
  NodeBuilder(NodeReader &node, Builder &builder)
      : node(node), builder(builder) {}

  /// First result of a new `T`; null after a fault.
  template <class T, class... Args> Value *emit(Args &&...args) {
    T op = emitOp<T>(std::forward<Args>(args)...);
    return op ? op.result() : nullptr;
  }
  template <class T, class... Args> T emitOp(Args &&...args) {
    if (node.failed())
      return T();
    if constexpr (sizeof...(Args) > 1 &&
                  (std::is_convertible_v<Args, Value *> && ...)) {
      if (hasTrait(T::opKind, OpTrait::Pointwise)) {
        std::array<Value *, sizeof...(Args)> operands{args...};
        lineUp(operands);
        return node.failed()
                   ? T()
                   : std::apply([&](auto... v) { return create<T>(v...); },
                                operands);
      }
    }
    return create<T>(std::forward<Args>(args)...);
  }

  //===--- Constants
  //--------------------------------------------------------===//
  Value *constant(Constant value);
  Value *scalar(DataType element, double value);
  /// A scalar of x's element type.
  Value *like(Value *x, double value);
  Value *ints(llvm::ArrayRef<int64_t> values);
  /// A dimension as a scalar of `element`.
  Value *dim(const Dim &d, DataType element);
  Value *dims(llvm::ArrayRef<Dim> values);

  //===--- Pointwise
  //--------------------------------------------------------===//
  Value *add(Value *a, Value *b) { return emit<AddOp>(a, b); }
  Value *sub(Value *a, Value *b) { return emit<SubOp>(a, b); }
  Value *mul(Value *a, Value *b) { return emit<MulOp>(a, b); }
  Value *div(Value *a, Value *b) { return emit<DivOp>(a, b); }
  Value *max(Value *a, Value *b) { return emit<MaxOp>(a, b); }
  Value *min(Value *a, Value *b) { return emit<MinOp>(a, b); }
  Value *addTo(Value *a, double b) {
    return node.failed() ? nullptr : add(a, like(a, b));
  }
  Value *scale(Value *a, double b) {
    return node.failed() ? nullptr : mul(a, like(a, b));
  }
  Value *select(Value *condition, Value *yes, Value *no) {
    return emit<SelectOp>(condition, yes, no);
  }
  /// x itself where it already has that type.
  Value *cast(Value *x, DataType to);
  /// f16 and bf16 as f32, other types as they are.
  Value *widen(Value *x);

  //===--- Views
  //------------------------------------------------------------===//
  Value *reshape(Value *x, llvm::ArrayRef<Dim> shape);
  Value *transpose(Value *x, llvm::ArrayRef<int64_t> permutation);
  Value *broadcast(Value *x, llvm::ArrayRef<Dim> shape);
  /// Broadcast to a shape of which no dimension is known to differ from x's:
  /// each of x's is 1 or the same when the sizes are known, and a constraint
  /// says so.
  Value *stretch(Value *x, llvm::ArrayRef<Dim> shape);
  /// Elements start ... start+size-1 along one axis.
  Value *slice(Value *x, int64_t axis, const Dim &start, const Dim &size);
  Value *unsqueeze(Value *x,
                   llvm::ArrayRef<int64_t> axes); ///< axes of the result
  Value *concat(llvm::ArrayRef<Value *> parts, int64_t axis);
  /// A [C] vector as [C, 1, ...] that lines up with axis 1 of a tensor of
  /// `rank`.
  Value *perChannel(Value *x, int64_t rank);

  //===--- Reductions
  //-------------------------------------------------------===//
  Value *reduce(Value *x, ReduceKind kind, llvm::ArrayRef<int64_t> axes,
                bool keepDims = true);
  /// Sum over the axes divided by the number of elements; 0 elements give NaN.
  Value *mean(Value *x, llvm::ArrayRef<int64_t> axes, bool keepDims = true);
  /// (x - mean) / sqrt(variance + epsilon) over the axes; computes in f32 or
  /// wider.
  Value *normalize(Value *x, llvm::ArrayRef<int64_t> axes, double epsilon,
                   Value **mean = nullptr, Value **inverse = nullptr);
  Value *softmax(Value *x, llvm::ArrayRef<int64_t> axes);
  Value *logSoftmax(Value *x, llvm::ArrayRef<int64_t> axes);

  Builder &raw() { return builder; }

private:
  template <class T, class... Args> T create(Args &&...args) {
    llvm::Expected<T> op = builder.tryCreate<T>(std::forward<Args>(args)...);
    if (!op)
      node.error(op.takeError());
    else if (isValid(*op->op()))
      return *op;
    return T();
  }
  /// A symbolic size of one operand that meets a number of another one may be 1
  /// at run time: it repeats then.
  void lineUp(llvm::MutableArrayRef<Value *> operands);
  /// The rules of its record hold, and its results are of a size that exists.
  bool isValid(const Op &op);
  NodeReader &node;
  Builder &builder;
};

/// 0 ... n-1.
std::vector<int64_t> countingAxes(int64_t first, int64_t end);

} // namespace dlc
