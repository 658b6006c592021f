// SPDX-License-Identifier: Apache-2.0
// Einsum as transposes, sums and batched matrix products.
#include "compiler/onnx/Operators.h"
#include "llvm/ADT/StringExtras.h"

using namespace dlc;

namespace {

/// A value and one letter per dimension. The dimensions of `...` get letters
/// that cannot be written: '\1' is the last of them.
struct Term {
  Value *value = nullptr;
  std::string labels;
  Dim size(char label) const { return value->type().shape[labels.find(label)]; }
  bool has(char label) const { return labels.find(label) != std::string::npos; }
};

class Einsum {
public:
  Einsum(NodeReader &n, NodeBuilder &b) : n(n), b(b) {}
  void run();

private:
  std::string expand(llvm::StringRef text, int64_t rank);
  Term sumOut(Term term, llvm::StringRef keep);
  Term permute(Term term, llvm::StringRef order);
  Term product(Term x, Term y, llvm::StringRef keep);
  Term diagonal(Term term);

  NodeReader &n;
  NodeBuilder &b;
  size_t ellipsis = 0; // dimensions of the longest `...`
};

} // namespace

/// Labels of an operand of `rank`; empty after a fault.
std::string Einsum::expand(llvm::StringRef text, int64_t rank) {
  size_t dots = text.find("...");
  std::string labels = text.str();
  if (dots != llvm::StringRef::npos) {
    int64_t hidden = rank - (int64_t(text.size()) - 3);
    std::string filler;
    for (int64_t i = hidden; i > 0; --i)
      filler += char(i);
    if (hidden >= 0)
      labels.replace(dots, 3, filler);
    ellipsis = std::max(ellipsis, size_t(std::max<int64_t>(hidden, 0)));
  }
  bool letters = llvm::all_of(
      labels, [](char c) { return llvm::isAlpha(c) || (c > 0 && c < 32); });
  if (!letters || int64_t(labels.size()) != rank || ellipsis > 8) {
    n.error("equation: \"" + text + "\" does not fit an operand of rank " +
            llvm::Twine(rank));
    return "";
  }
  return labels;
}

/// A letter twice in one operand: its diagonal, picked by a mask and a sum.
Term Einsum::diagonal(Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    size_t j = term.labels.find(term.labels[i], i + 1);
    if (j == std::string::npos || n.failed())
      continue;
    std::vector<Dim> first(term.labels.size(), Dim(1)), second = first;
    first[i] = second[j] = term.value->type().shape[i];
    Value *hit =
        b.emit<EqualOp>(b.emit<IotaOp>(first, int64_t(i), DataType::I64),
                        b.emit<IotaOp>(second, int64_t(j), DataType::I64));
    Value *masked = b.select(hit, term.value, b.like(term.value, 0));
    term.value = b.reduce(masked, ReduceKind::Sum, {int64_t(j)}, false);
    term.labels.erase(j, 1);
    --i;
  }
  return term;
}

Term Einsum::sumOut(Term term, llvm::StringRef keep) {
  std::vector<int64_t> axes;
  std::string labels;
  for (size_t i = 0; i < term.labels.size(); ++i)
    if (keep.contains(term.labels[i]))
      labels += term.labels[i];
    else
      axes.push_back(int64_t(i));
  if (axes.empty() || n.failed())
    return term;
  return {b.reduce(term.value, ReduceKind::Sum, axes, false), labels};
}

Term Einsum::permute(Term term, llvm::StringRef order) {
  std::vector<int64_t> permutation;
  for (char label : order)
    permutation.push_back(int64_t(term.labels.find(label)));
  return {b.transpose(term.value, permutation), order.str()};
}

/// The product of two terms, summed over what is not in `keep`.
Term Einsum::product(Term x, Term y, llvm::StringRef keep) {
  x = sumOut(x, keep.str() + y.labels);
  y = sumOut(y, keep.str() + x.labels);
  if (n.failed())
    return x;
  std::string batch, rows, columns, inner;
  for (char label : x.labels)
    (!y.has(label) ? rows : keep.contains(label) ? batch : inner) += label;
  for (char label : y.labels)
    if (!x.has(label))
      columns += label;
  x = permute(x, batch + rows + inner);
  y = permute(y, batch + inner + columns);
  if (n.failed())
    return x;
  // Of sizes that differ, one is 1 and broadcasts.
  auto wider = [&](char label) {
    Dim a = x.has(label) ? x.size(label) : Dim(1);
    Dim c = y.has(label) ? y.size(label) : Dim(1);
    return a.isConstant(1) ? c : a;
  };
  auto count = [&](llvm::StringRef labels) {
    Dim total(1);
    for (char label : labels)
      total = total * wider(label);
    return total;
  };
  auto shapeOf = [&](const Term &term, llvm::StringRef first,
                     llvm::StringRef second) {
    std::vector<Dim> shape;
    for (char label : batch)
      shape.push_back(term.size(label));
    shape.push_back(count(first));
    shape.push_back(count(second));
    return shape;
  };
  auto widened = [&](Term term, llvm::StringRef labels) {
    std::vector<Dim> shape(term.value->type().shape.begin(),
                           term.value->type().shape.end());
    for (size_t i = 0; i < term.labels.size(); ++i)
      if (labels.contains(term.labels[i]))
        shape[i] = wider(term.labels[i]);
    return Term{b.broadcast(term.value, shape), term.labels};
  };
  x = widened(x, inner);
  y = widened(y, inner);
  if (n.failed())
    return x;
  Value *left = b.reshape(x.value, shapeOf(x, rows, inner));
  Value *right = b.reshape(y.value, shapeOf(y, inner, columns));
  Value *result = b.emit<MatMulOp>(left, right);
  std::vector<Dim> shape;
  for (char label : batch + rows + columns)
    shape.push_back(wider(label));
  return {result ? b.reshape(result, shape) : nullptr, batch + rows + columns};
}

void Einsum::run() {
  std::string equation = n.text("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '),
                 equation.end());
  auto [left, right] = llvm::StringRef(equation).split("->");
  bool hasResult = equation.find("->") != std::string::npos;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  left.split(parts, ',');
  llvm::ArrayRef<Value *> values = n.inputs();
  if (parts.size() != values.size())
    return n.error("equation \"" + equation + "\" has " +
                   llvm::Twine(parts.size()) + " operands, the node has " +
                   llvm::Twine(values.size()));
  std::vector<Term> terms;
  for (size_t i = 0; i < parts.size() && !n.failed(); ++i)
    terms.push_back({values[i], expand(parts[i], values[i]->type().rank())});
  if (n.failed())
    return;
  std::string result;
  for (size_t i = ellipsis; i > 0; --i)
    result += char(i);
  if (hasResult) {
    std::string hidden = result;
    result = right.str();
    size_t dots = result.find("...");
    if (dots != std::string::npos)
      result.replace(dots, 3, hidden);
  } else {
    // Letters that appear once, in order of the alphabet.
    std::string all;
    for (const Term &term : terms)
      all += term.labels;
    std::string once;
    for (char c : all)
      if (llvm::isAlpha(c) && llvm::count(all, c) == 1)
        once += c;
    llvm::sort(once);
    result += once;
  }
  for (size_t i = 0; i < result.size(); ++i) {
    bool known =
        llvm::any_of(terms, [&](const Term &t) { return t.has(result[i]); });
    if (!known || result.find(result[i], i + 1) != std::string::npos)
      return n.error("equation \"" + equation +
                     "\": each letter of the result must stand in an operand, "
                     "and once in the result");
  }
  for (Term &term : terms)
    term = diagonal(term);
  Term total = terms[0];
  for (size_t i = 1; i < terms.size() && !n.failed(); ++i) {
    std::string keep = result;
    for (size_t j = i + 1; j < terms.size(); ++j)
      keep += terms[j].labels;
    total = product(total, terms[i], keep);
  }
  total = sumOut(total, result);
  if (!n.failed())
    n.result(permute(total, result).value);
}

namespace dlc {
void importEinsum(NodeReader &n, NodeBuilder &b) { Einsum(n, b).run(); }
} // namespace dlc
