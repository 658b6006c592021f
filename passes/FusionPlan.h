// SPDX-License-Identifier: Apache-2.0
// Which ops of a graph will become which fusion, before the graph is changed.
#pragma once

#include "passes/Pass.h"
#include "passes/Values.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace dlc {

/// Ops that will be one fusion. Members leave the graph; copies are cloned into
/// the body and stay outside as well, for other users.
struct Cluster {
  FusionKind kind;
  llvm::SmallVector<Op *, 2> heroes;
  llvm::SetVector<Op *> members, copies;
  bool abandoned = false; ///< forms no fusion

  bool holds(const Op *op) const {
    auto *key = const_cast<Op *>(op);
    return members.contains(key) || copies.contains(key);
  }
  size_t size() const { return members.size() + copies.size(); }
};

/// Limits of one fusion: what a kernel's parameters and registers bear.
inline constexpr size_t kMaxBodyOps = 96;
inline constexpr size_t kMaxInputs = 64;
inline constexpr size_t kMaxYields = 6;

/// The clusters of one graph. An op is a member of at most one. Whatever joins,
/// contracting each cluster to one op leaves a graph without cycles.
class FusionPlan {
public:
  explicit FusionPlan(Graph &graph);

  unsigned create(FusionKind kind, Op *seed);
  Cluster &cluster(unsigned id) { return clusters[id]; }
  unsigned numClusters() const { return unsigned(clusters.size()); }
  /// The cluster of which `op` is a member, or nothing.
  std::optional<unsigned> clusterOf(const Op *op) const;
  unsigned position(const Op *op) const { return positions.lookup(op); }
  /// All ops in their order.
  llvm::ArrayRef<Op *> ops() const { return opList; }

  /// Would the contracted graph have a cycle if `op` joined?
  bool wouldCycle(unsigned id, Op *op, bool asCopy);
  void join(unsigned id, Op *op, bool asCopy);
  void leave(unsigned id, Op *op);
  /// Would merging two clusters make a cycle?
  bool wouldCycle(unsigned a, unsigned b);
  void merge(unsigned into, unsigned from);

  /// Values from outside that the ops of the cluster read, in order of first
  /// use. Literals are none: the body holds them.
  llvm::SmallVector<Value *, 8> inputs(unsigned id) const;
  /// Values of members that are read outside, in order.
  llvm::SmallVector<Value *, 4> yields(unsigned id) const;
  /// Will anybody outside read `value`, a result of an op that is or becomes a
  /// member? Whoever holds a copy of the op does not.
  bool isReadOutside(const Value *value, unsigned id) const;
  /// Members and copies in graph order.
  llvm::SmallVector<Op *, 16> sorted(unsigned id) const;

  /// The fusion that the cluster would be, detached. The caller frees it.
  Op *build(unsigned id) const;
  /// Price of the cluster as one kernel, or why there is none. Without a cost
  /// model: 0.
  llvm::Expected<double> price(unsigned id, const PassContext &context) const;
  /// Why the cluster cannot be one kernel: limits, or what price says. Empty
  /// where it can.
  std::string whyNoKernel(unsigned id, const PassContext &context) const;
  /// Replaces every cluster that is not abandoned by a fusion, reordering ops
  /// where that is needed. Returns whether there was any.
  bool materialize(Rewriter &rewriter);

private:
  /// Is a member of `id`, or `target`, among the ops that `starts` depend on?
  bool dependsOn(llvm::ArrayRef<Op *> starts, unsigned id, const Op *target);
  void pushOperands(const Op *op, llvm::SmallVectorImpl<Op *> &stack) const;
  /// The ops outside that the cluster reads. What it holds a copy of is none.
  void pushNeeded(const Cluster &c, llvm::SmallVectorImpl<Op *> &stack) const;
  std::vector<Op *> contractedOrder() const;
  /// Does every reader hold a copy, so that the op itself will be dead?
  bool willBeDead(const Op *op) const;
  bool isReadBy(const Op *reader, const Op *producer, unsigned id) const;

  Graph &graph;
  std::vector<Op *> opList;
  llvm::DenseMap<const Op *, unsigned> positions;
  std::vector<int> clusterIds; // by position; -1: none
  std::vector<Cluster> clusters;
  llvm::DenseMap<const Op *, llvm::SmallVector<unsigned, 2>> holders; // copies
  std::vector<unsigned> stamps; // by position: the search that saw it
  unsigned search = 0;
};

/// Why ops did not join a fusion. What joins after all is not told.
class Refusals {
public:
  void add(const Op *op, llvm::StringRef why) {
    reasons.try_emplace(op, why.str());
  }
  void withdraw(const Op *op) { reasons.erase(op); }
  void report(const FusionPlan &plan, const PassContext &context) const;

private:
  llvm::DenseMap<const Op *, std::string> reasons;
};

} // namespace dlc
