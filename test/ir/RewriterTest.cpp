// SPDX-License-Identifier: Apache-2.0
// Rewriting: order, worklist, locations, and its speed on large graphs.
#include "ir/Rewriter.h"

#include <chrono>
#include <gtest/gtest.h>

using namespace dlc;

namespace {

Value *addInput(Module &m, int64_t size = 4) {
  return m.main().addInput(TensorType(DataType::F32, {size}));
}

/// neg(neg(x)) is x.
bool cancelNegations(Op *op, Rewriter &r) {
  auto outer = llvm::dyn_cast<NegOp>(op);
  if (!outer)
    return false;
  auto inner = outer.input()->definingOp<NegOp>();
  if (!inner)
    return false;
  r.replace(op, {inner.input()});
  return true;
}

TEST(Rewriter, CancelsALongChain) {
  for (int length : {1, 2, 7, 5000}) {
    Module m;
    Builder b(m.main());
    Value *x = addInput(m), *v = x;
    for (int i = 0; i != length; ++i)
      v = b.create<NegOp>(v).result();
    m.main().addOutput(v);
    auto start = std::chrono::steady_clock::now();
    Rewriter r(m.main());
    r.greedily(cancelNegations);
    EXPECT_EQ(m.main().ops().size(), size_t(length % 2));
    EXPECT_EQ(r.changed(), length > 1);
    EXPECT_EQ(m.main().outputs()[0] == x, length % 2 == 0);
    auto spent = std::chrono::steady_clock::now() - start;
    EXPECT_LT(spent, std::chrono::seconds(1)) << length;
    llvm::Error e = verify(m);
    EXPECT_FALSE(bool(e)) << llvm::toString(std::move(e));
  }
}

TEST(Rewriter, ASharedConstantOfManyUsersIsCheap) {
  Module m;
  Builder b(m.main());
  Value *x = addInput(m), *zero = b.scalar(DataType::F32, 0);
  Value *sum = x;
  for (int i = 0; i != 5000; ++i)
    sum = b.create<AddOp>(sum, zero).result();
  m.main().addOutput(sum);
  auto start = std::chrono::steady_clock::now();
  Rewriter r(m.main());
  r.greedily([](Op *op, Rewriter &r) {
    auto add = llvm::dyn_cast<AddOp>(op);
    if (!add || !add.rhs()->definingOp<ConstantOp>())
      return false;
    r.replace(op, {add.lhs()});
    return true;
  });
  EXPECT_TRUE(m.main().ops().empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(Rewriter, NewOpsTakeTheLocationAndReplacementsJoinIt) {
  Module m;
  Builder b(m.main());
  Value *x = addInput(m);
  b.location = Location::node("a (Neg)");
  Value *v = b.create<NegOp>(x).result();
  b.location = Location::node("b (Relu)");
  v = b.create<ReluOp>(v).result();
  m.main().addOutput(v);
  Rewriter r(m.main());
  Op *relu = v->definingOp();
  Value *neg = relu->operand(0);
  Value *abs = r.at(relu).create<AbsOp>(neg).result();
  EXPECT_EQ(abs->definingOp()->location().str(), "node \"b\" (Relu)");
  r.replace(relu, {neg});
  EXPECT_EQ(neg->definingOp()->location().str(),
            "nodes \"a\" (Neg), \"b\" (Relu)");
  EXPECT_EQ(m.main().outputs()[0], neg);
  r.eraseDeadOps();
  EXPECT_EQ(m.main().ops().size(), 1u);
}

TEST(Rewriter, VisitsFromTheTopAndNewOpsToo) {
  Module m;
  Builder b(m.main());
  Value *v = addInput(m);
  for (int i = 0; i != 5; ++i)
    v = b.create<ExpOp>(v).result();
  m.main().addOutput(v);
  Rewriter r(m.main());
  std::vector<OpKind> visited;
  r.greedily([&](Op *op, Rewriter &r) {
    visited.push_back(op->kind());
    if (visited.size() != 1)
      return false;
    r.replace(op, {r.at(op).create<SinOp>(op->operand(0)).result()});
    return true;
  });
  EXPECT_EQ(visited[0], OpKind::Exp);
  EXPECT_EQ(std::count(visited.begin(), visited.end(), OpKind::Sin), 1);
  EXPECT_EQ(m.main().ops().front().kind(), OpKind::Sin);
}

TEST(Graph, OrderSurvivesInsertionsAnywhere) {
  Module m;
  Builder b(m.main());
  Value *x = addInput(m);
  std::vector<Op *> ops;
  ops.push_back(b.create<NegOp>(x).op());
  ops.push_back(b.create<NegOp>(x).op());
  // Always between the same two: the numbers run out again and again.
  for (int i = 0; i != 200; ++i) {
    b.setInsertionPoint(ops.back());
    ops.insert(ops.end() - 1, b.create<NegOp>(x).op());
  }
  for (size_t i = 1; i != ops.size(); ++i) {
    EXPECT_TRUE(ops[i - 1]->isBefore(ops[i]));
    EXPECT_FALSE(ops[i]->isBefore(ops[i - 1]));
  }
}

TEST(Graph, BuildsAndVerifiesLargeGraphsFast) {
  auto start = std::chrono::steady_clock::now();
  Module m;
  Builder b(m.main());
  Value *v = addInput(m, 64);
  for (int i = 0; i != 5000; ++i)
    v = b.create<AddOp>(v, b.scalar(DataType::F32, i)).result();
  m.main().addOutput(v);
  llvm::Error e = verify(m);
  EXPECT_FALSE(bool(e)) << llvm::toString(std::move(e));
  std::unique_ptr<Module> copy = m.clone();
  EXPECT_EQ(copy->main().ops().size(), 10000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

} // namespace
