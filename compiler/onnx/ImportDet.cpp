// SPDX-License-Identifier: Apache-2.0
// Det, of small matrices.
#include "compiler/onnx/Operators.h"

using namespace dlc;

namespace dlc {

static constexpr int64_t kLargestMatrix = 4;

/// By minors of the first row of those in `columns`.
static Value *determinant(NodeBuilder &b,
                          llvm::ArrayRef<std::vector<Value *>> rows,
                          llvm::ArrayRef<size_t> columns) {
  if (columns.size() == 1)
    return rows[0][columns[0]];
  Value *sum = nullptr;
  for (size_t i = 0; i < columns.size(); ++i) {
    llvm::SmallVector<size_t, 4> rest(columns);
    rest.erase(rest.begin() + long(i));
    Value *term =
        b.mul(rows[0][columns[i]], determinant(b, rows.drop_front(), rest));
    sum = !sum ? term : i % 2 ? b.sub(sum, term) : b.add(sum, term);
  }
  return sum;
}

void importDet(NodeReader &n, NodeBuilder &b) {
  Value *x = n.input(0);
  int64_t rank = x->type().rank();
  if (rank < 2 || !x->type().dim(-1).isConstant() ||
      x->type().dim(-1) != x->type().dim(-2) ||
      x->type().dim(-1).constant() < 1 ||
      x->type().dim(-1).constant() > kLargestMatrix)
    return n.error("input 0 is " + x->type().str() +
                   ", supported are square matrices of up to " +
                   llvm::Twine(kLargestMatrix) + " rows");
  int64_t size = x->type().dim(-1).constant();
  std::vector<Dim> batch(x->type().shape.begin(), x->type().shape.end() - 2);
  DataType element = x->type().element;
  x = b.widen(x);
  std::vector<std::vector<Value *>> rows;
  std::vector<size_t> columns;
  for (int64_t i = 0; i < size; ++i) {
    columns.push_back(size_t(i));
    rows.emplace_back();
    for (int64_t j = 0; j < size; ++j)
      rows.back().push_back(b.reshape(
          b.slice(b.slice(x, rank - 2, i, 1), rank - 1, j, 1), batch));
  }
  n.result(b.cast(determinant(b, rows, columns), element));
}

} // namespace dlc
