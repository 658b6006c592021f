// SPDX-License-Identifier: Apache-2.0
// The rule that docs/adding-a-pass.md shows: manual.test compares the text.
#include "passes/Pass.h"

#include <gtest/gtest.h>

using namespace dlc;

// sqrt(x) * sqrt(y) => sqrt(x * y), where the roots have no other uses; not
// exact, which the first comment of a pass that does it must say
static bool joinRoots(Op *op, Rewriter &rewriter, PassContext &context) {
  Value *x = nullptr, *y = nullptr;
  match::Why why = context.why(); // builds no text unless somebody explains
  if (!match::match(
          op,
          match::op<MulOp>(match::oneUse(match::op<SqrtOp>(match::value(x))),
                           match::oneUse(match::op<SqrtOp>(match::value(y)))),
          &why)) {
    // One root is half of the pattern: somebody could have expected it.
    if (match::match(
            op, match::commutative<MulOp>(match::op<SqrtOp>(), match::value())))
      context.decline(*op, why);
    return false;
  }
  Builder &builder = rewriter.at(op);
  Value *product = builder.create<MulOp>(x, y).result();
  rewriter.replace(op, builder.create<SqrtOp>(product).result());
  return true;
}

namespace {

struct ManualTest : testing::Test {
  Module m;
  Builder b{m.main()};
  Value *x = m.main().addInput(TensorType(DataType::F32, {4}), "x");
  Value *y = m.main().addInput(TensorType(DataType::F32, {4}), "y");

  /// What the rule declines.
  std::vector<std::string> run() {
    std::vector<std::string> reasons;
    PassContext context;
    context.explain = [&](const Op &, llvm::StringRef reason) {
      reasons.push_back(reason.str());
    };
    Rewriter rewriter(m.main());
    rewriter.greedily([&](Op *op, Rewriter &rewriter) {
      return op->kind() == OpKind::Mul && joinRoots(op, rewriter, context);
    });
    llvm::Error e = verify(m);
    EXPECT_FALSE(bool(e)) << llvm::toString(std::move(e));
    return reasons;
  }
};

TEST_F(ManualTest, RewritesWhatMatches) {
  Value *root = b.create<SqrtOp>(x).result();
  m.main().addOutput(
      b.create<MulOp>(root, b.create<SqrtOp>(y).result()).result());
  EXPECT_TRUE(run().empty());
  SqrtOp outer = m.main().outputs()[0]->definingOp<SqrtOp>();
  ASSERT_TRUE(bool(outer));
  MulOp inner = outer.input()->definingOp<MulOp>();
  ASSERT_TRUE(bool(inner));
  EXPECT_EQ(inner.lhs(), x);
  EXPECT_EQ(inner.rhs(), y);
}

TEST_F(ManualTest, SaysWhyNot) {
  b.location = Location::node("r (Relu)");
  Value *relu = b.create<ReluOp>(y).result();
  Value *root = b.create<SqrtOp>(x).result();
  m.main().addOutput(b.create<MulOp>(root, relu).result());
  m.main().addOutput(b.create<MulOp>(relu, y).result()); // no root at all
  EXPECT_EQ(run(), std::vector<std::string>{"operand 1 of mul: expected sqrt, "
                                            "found relu (node \"r\" (Relu))"});
  m.main().addOutput(root);
  EXPECT_EQ(run(), std::vector<std::string>{"operand 0 of mul: expected one "
                                            "use of sqrt (node \"r\" (Relu)), "
                                            "found 1 and an output"});
}

} // namespace
