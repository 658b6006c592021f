// SPDX-License-Identifier: Apache-2.0
// Grows one contraction or window at a time: epilogue, side inputs, prologue.
#pragma once

#include "passes/FusionPlaces.h"
#include "llvm/ADT/DenseSet.h"

namespace dlc {

class VerticalFuser {
public:
  VerticalFuser(Graph &graph, PassContext &context)
      : plan(graph), context(context) {}

  /// Plans all fusions of the graph and makes them.
  bool run(Rewriter &rewriter);

private:
  struct Hero {
    unsigned id;
    Op *op;
    FusionPlaces places;
    llvm::SmallVector<Op *, 8> joined;  // in the order in which they came
    llvm::DenseSet<const Op *> refused; // had to leave again
    bool closed;                        // a pool ends it, or took it over
  };

  // Each returns whether something joined.
  bool growEpilogue(Hero &hero);
  bool growSides(Hero &hero);
  bool growPrologue(Hero &hero);
  llvm::DenseSet<const Op *> prologueOf(const Hero &hero);
  bool isReadByItsOwn(const Value *value) const;
  bool isWidenedHere(const Hero &hero, const Value *value) const;
  bool joinEpilogue(Hero &hero, Value *value, Op *user);
  bool joinSide(Hero &hero, Value *value);
  bool joinPrologue(Hero &hero, Value *value);
  Op *looseProducer(const Value *value) const;
  std::optional<FusionPlaces::Info> placeBefore(Hero &hero, Op *op, bool free,
                                                bool only);
  bool paysAsPrologue(Hero &hero, Op *op, bool asCopy);
  bool join(Hero &hero, Op *op, bool asCopy, FusionPlaces::Info info);
  void dropLast(Hero &hero);
  /// Sides, epilogues and prologues of all heroes, until nothing joins.
  void growAll();
  void growPools();
  /// Drops what joined last until limits and prices are met.
  void settle(Hero &hero);

  FusionPlan plan;
  PassContext &context;
  std::vector<Hero> heroes;
  bool prologuesGrown = false;
  Refusals refusals;
};

} // namespace dlc
