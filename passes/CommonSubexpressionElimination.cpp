// SPDX-License-Identifier: Apache-2.0
// Two pure ops of one kind with the same operands and attributes are one.
#include "passes/Pass.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include <unordered_map>

namespace dlc {

static size_t hashOf(const Dim &dim) {
  return dim.isConstant() ? size_t(llvm::hash_value(dim.constant()))
                          : size_t(llvm::hash_value(dim.str()));
}

static size_t hashOf(const Attribute &attribute) {
  return std::visit(
      [](const auto &v) -> size_t {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate> ||
                      std::is_same_v<T, Layout>)
          return 0;
        else if constexpr (std::is_same_v<T, Constant>)
          return size_t(v.hash());
        else if constexpr (std::is_same_v<T, std::vector<Dim>>) {
          size_t h = v.size();
          for (const Dim &dim : v)
            h = llvm::hash_combine(h, hashOf(dim));
          return h;
        } else if constexpr (std::is_same_v<T, std::string>)
          return llvm::hash_value(v);
        else if constexpr (std::is_same_v<T, std::vector<std::string>>)
          return v.size();
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          return llvm::hash_combine_range(v.begin(), v.end());
        else if constexpr (std::is_same_v<T, std::vector<double>>)
          return v.size();
        else if constexpr (std::is_same_v<T, double>)
          return std::hash<double>()(v);
        else
          return size_t(v);
      },
      attribute);
}

static size_t hashOf(const Op &op) {
  size_t h = size_t(op.kind());
  size_t operands = 0;
  for (const Value *operand : op.operands()) {
    size_t one = std::hash<const void *>()(operand);
    // Order does not matter for commutative ops.
    operands = op.hasTrait(OpTrait::Commutative)
                   ? operands + one
                   : size_t(llvm::hash_combine(operands, one));
  }
  h = llvm::hash_combine(h, operands);
  for (unsigned i = 0; i < op.numAttributes(); ++i)
    h = llvm::hash_combine(h, hashOf(op.attribute(i)));
  return h;
}

static bool sameOp(const Op &a, const Op &b) {
  if (a.kind() != b.kind() || a.numResults() != b.numResults() ||
      a.numAttributes() != b.numAttributes())
    return false;
  bool sameOperands = a.operands() == b.operands();
  if (!sameOperands && a.hasTrait(OpTrait::Commutative) &&
      a.numOperands() == 2 && b.numOperands() == 2)
    sameOperands = a.operand(0) == b.operand(1) && a.operand(1) == b.operand(0);
  if (!sameOperands)
    return false;
  for (unsigned i = 0; i < a.numResults(); ++i)
    if (a.result(i)->type() != b.result(i)->type())
      return false;
  for (unsigned i = 0; i < a.numAttributes(); ++i)
    if (!(a.attribute(i) == b.attribute(i)))
      return false;
  return true;
}

// Counts are named by the op that computes them: two such ops are two symbols.
static bool ownsSymbol(const Op &op) {
  return op.kind() == OpKind::NonZero || op.kind() == OpKind::NonMaxSuppression;
}

llvm::Expected<bool> runCommonSubexpressionElimination(Module &module,
                                                       PassContext &context) {
  bool changed = false;
  forEachGraph(module, [&](Graph &graph) {
    Rewriter rewriter(graph);
    std::unordered_multimap<size_t, Op *> seen;
    for (Op &op : llvm::make_early_inc_range(graph.ops())) {
      if (!op.hasTrait(OpTrait::Pure) || op.numRegions() != 0 || ownsSymbol(op))
        continue;
      size_t hash = hashOf(op);
      auto [begin, end] = seen.equal_range(hash);
      auto it = std::find_if(begin, end, [&](const auto &entry) {
        return sameOp(*entry.second, op);
      });
      if (it == end) {
        seen.emplace(hash, &op);
        continue;
      }
      Op *first = it->second;
      llvm::SmallVector<Value *, 2> results;
      for (unsigned i = 0; i < first->numResults(); ++i)
        results.push_back(first->result(i));
      rewriter.replace(&op, results);
      changed = true;
    }
  });
  return changed;
}

} // namespace dlc
