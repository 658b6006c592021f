// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

/// NumPy's matmul: a vector is a row on the left and a column on the right, and
/// the dimension it lacks is missing in the result as well.
static Value *matMul(NodeReader &n, NodeBuilder &b, Value *x, Value *y,
                     std::optional<DataType> type = std::nullopt) {
  if (n.failed())
    return nullptr;
  int64_t left = x->type().rank(), right = y->type().rank();
  if (left == 0 || right == 0) {
    n.error("operands are " + x->type().str() + " and " + y->type().str() +
            ", expected at least one dimension each");
    return nullptr;
  }
  if (left == 1)
    x = b.unsqueeze(x, {0});
  if (right == 1)
    y = b.unsqueeze(y, {1});
  Value *product = b.emit<MatMulOp>(x, y, false, false, type);
  if (!product || (left > 1 && right > 1))
    return product;
  std::vector<Dim> shape(product->type().shape.begin(),
                         product->type().shape.end());
  if (right == 1)
    shape.pop_back();
  if (left == 1)
    shape.erase(shape.end() - (right == 1 ? 1 : 2));
  return b.reshape(product, shape);
}

void importMatMul(NodeReader &n, NodeBuilder &b) {
  n.result(matMul(n, b, n.input(0), n.input(1)));
}

/// alpha * A' B' + beta * C. C broadcasts to the product.
void importGemm(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0), *y = n.input(1);
  double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  bool transA = n.flag("transA", false), transB = n.flag("transB", false);
  for (unsigned i = 0; i < 2; ++i)
    if (n.input(i)->type().rank() != 2)
      return n.error("input " + llvm::Twine(i) + " has type " +
                     n.input(i)->type().str() + ", expected a matrix");
  Value *product = b.emit<MatMulOp>(x, y, transA, transB);
  if (alpha != 1)
    product = b.scale(product, alpha);
  if (!n.hasInput(2))
    return n.result(product);
  Value *bias = n.input(2);
  if (bias->type().rank() > 2)
    return n.error("input 2 has type " + bias->type().str() +
                   ", expected one that broadcasts to a matrix");
  // A row is the same as a vector, which fuses as a bias.
  if (bias->type().rank() == 2 && bias->type().shape[0].isConstant(1))
    bias = b.reshape(bias, {bias->type().shape[1]});
  if (beta != 1)
    bias = b.scale(bias, beta);
  Value *sum = b.add(product, bias);
  if (sum && sum->type().shape != product->type().shape)
    return n.error("input 2 has type " + n.input(2)->type().str() +
                   ", expected one that broadcasts to " +
                   product->type().str());
  n.result(sum);
}

/// com.microsoft: alpha times the product, each operand perhaps transposed.
void importFusedMatMul(NodeReader &n, NodeBuilder &b) {
  double alpha = n.real("alpha", 1);
  bool transA = n.flag("transA", false), transB = n.flag("transB", false);
  if (n.flag("transBatchA", false) || n.flag("transBatchB", false))
    return n.error("transposed batch dimensions are not supported");
  Value *product = b.emit<MatMulOp>(n.input(0), n.input(1), transA, transB);
  n.result(alpha == 1 ? product : b.scale(product, alpha));
}

/// An 8-bit operand as i32, less its zero point.
static Value *shifted(NodeReader &n, NodeBuilder &b, unsigned i, unsigned zero,
                      bool perRow) {
  Value *x = b.cast(n.input(i), DataType::I32);
  if (!n.hasInput(zero))
    return x;
  Value *point = b.cast(n.input(zero), DataType::I32);
  if (point && point->type().rank() == 1 && perRow)
    point = b.unsqueeze(point, {1});
  return b.sub(x, point);
}
void importMatMulInteger(NodeReader &n, NodeBuilder &b) {
  Value *x = shifted(n, b, 0, 2, /*perRow=*/true);
  Value *y = shifted(n, b, 1, 3, /*perRow=*/false);
  n.result(matMul(n, b, x, y, DataType::I32));
}

} // namespace dlc
