// SPDX-License-Identifier: Apache-2.0
// Patterns over values: what matches, what is captured, and what a refusal
// says.
#include "ir/Match.h"
#include "ir/Builder.h"

#include <gtest/gtest.h>

using namespace dlc;

namespace {

/// mul(relu(x), 0.5) + x, and what else a test adds.
struct MatchTest : testing::Test {
  Module m;
  Builder b{m.main()};
  Value *x = m.main().addInput(TensorType(DataType::F32, {4}), "x");
  Value *half = b.scalar(DataType::F32, 0.5);
  Value *relu = at("r (Relu)").create<ReluOp>(x).result();
  Value *mul = at("m (Mul)").create<MulOp>(relu, half).result();
  Value *add = at("a (Add)").create<AddOp>(mul, x).result();

  Builder &at(std::string node) {
    b.location = Location::node(std::move(node));
    return b;
  }
  /// Why the value does not match; "matches" if it does.
  template <class P> static std::string why(Value *v, const P &pattern) {
    match::Why why;
    bool matches = match::match(v, pattern, &why);
    EXPECT_EQ(matches, match::match(v, pattern)) << "asking changes the answer";
    EXPECT_EQ(matches, why.text().empty()) << why.text().str();
    return matches ? "matches" : why.text().str();
  }
};

TEST_F(MatchTest, CapturesValuesConstantsNumbersAndOps) {
  Value *a = nullptr, *c = nullptr, *product = nullptr;
  double number = 0;
  AddOp sum;
  ReluOp inner;
  EXPECT_TRUE(match::match(
      add,
      match::op(sum,
                match::value(product,
                             match::op<MulOp>(match::op(inner, match::value(a)),
                                              match::uniform(number))),
                match::is(x))));
  EXPECT_EQ(sum.op(), add->definingOp());
  EXPECT_EQ(inner.op(), relu->definingOp());
  EXPECT_EQ(a, x);
  EXPECT_EQ(product, mul);
  EXPECT_EQ(number, 0.5);
  Constant constant;
  EXPECT_TRUE(match::match(
      mul, match::op<MulOp>(match::value(), match::constant(constant))));
  EXPECT_EQ(constant.uniformValue(), 0.5);
  EXPECT_TRUE(match::match(
      mul->definingOp(), match::op<MulOp>(match::value(), match::constant(c))));
  EXPECT_EQ(c, half);
  // Operands that are left out may be anything.
  EXPECT_EQ(why(add, match::op<AddOp>()), "matches");
  EXPECT_EQ(why(add, match::op<AddOp>(match::op<MulOp>())), "matches");
}

TEST_F(MatchTest, SaysWhereAndWhatWasFound) {
  EXPECT_EQ(why(mul, match::op<MulOp>(match::constant(), match::value())),
            "operand 0 of mul: expected a constant, found relu (node \"r\" "
            "(Relu))");
  EXPECT_EQ(why(mul, match::op<AddOp>()),
            "expected add, found mul (node \"m\" (Mul))");
  EXPECT_EQ(why(x, match::op<AddOp>()), "expected add, found input \"x\"");
  EXPECT_EQ(why(add, match::op<AddOp>(match::op<MulOp>(match::op<NegOp>()))),
            "operand 0 of add: operand 0 of mul: expected neg, found relu "
            "(node \"r\" (Relu))");
  EXPECT_EQ(why(mul, match::op<MulOp>(match::value(), match::uniform(2.0))),
            "operand 1 of mul: expected a constant of 2, found constant of "
            "0.5");
  double number;
  EXPECT_EQ(why(mul, match::op<MulOp>(match::uniform(number))),
            "operand 0 of mul: expected a constant of one value, found relu "
            "(node \"r\" (Relu))");
  EXPECT_EQ(why(add, match::op<AddOp>(match::is(x))),
            "operand 0 of add: expected input \"x\", found mul (node \"m\" "
            "(Mul))");
  EXPECT_EQ(why(relu, match::op<ReluOp>(match::value(), match::value())),
            "operand 1 of relu: expected a value, found nothing");
}

TEST_F(MatchTest, ZeroIsNotMinusZero) {
  Value *zero = b.scalar(DataType::F32, 0.0);
  Value *minus = b.scalar(DataType::F32, -0.0);
  EXPECT_TRUE(match::match(zero, match::uniform(0.0)));
  EXPECT_TRUE(match::match(minus, match::uniform(-0.0)));
  EXPECT_FALSE(match::match(zero, match::uniform(-0.0)));
  EXPECT_FALSE(match::match(minus, match::uniform(0.0)));
}

TEST_F(MatchTest, CommutativeTakesEitherOrder) {
  Value *a = nullptr, *product = nullptr;
  auto pattern = match::commutative<AddOp>(
      match::value(a), match::value(product, match::op<MulOp>()));
  for (Value *v : {add, b.create<AddOp>(x, mul).result()}) {
    a = product = nullptr;
    EXPECT_TRUE(match::match(v, pattern));
    EXPECT_EQ(a, x);
    EXPECT_EQ(product, mul);
  }
  EXPECT_EQ(why(mul, match::commutative<MulOp>(match::op<NegOp>(),
                                               match::op<ExpOp>())),
            "operand 0 of mul: expected neg, found relu (node \"r\" (Relu)), "
            "in either order");
  // The order that gets further tells.
  EXPECT_EQ(
      why(mul, match::commutative<MulOp>(
                   match::constant(), match::op<ReluOp>(match::op<NegOp>()))),
      "operand 0 of mul: operand 0 of relu: expected neg, found input "
      "\"x\"");
}

TEST_F(MatchTest, OneUse) {
  EXPECT_EQ(why(relu, match::oneUse(match::op<ReluOp>())), "matches");
  b.create<NegOp>(relu);
  EXPECT_EQ(why(mul, match::op<MulOp>(match::oneUse(match::op<ReluOp>()))),
            "operand 0 of mul: expected one use of relu (node \"r\" (Relu)), "
            "found 2");
  m.main().addOutput(mul);
  EXPECT_EQ(why(mul, match::oneUse(match::value())),
            "expected one use of mul (node \"m\" (Mul)), found 1 and an "
            "output");
}

TEST_F(MatchTest, WhereSaysItsSentence) {
  auto small = [](Value *v) { return v->type().dim(0).isConstant(3); };
  EXPECT_EQ(why(mul, match::op<MulOp>(match::where(match::op<ReluOp>(), small,
                                                   "it has no 3 elements"))),
            "operand 0 of mul: it has no 3 elements");
  // What is no relu never gets to the predicate.
  EXPECT_EQ(why(x, match::where(
                       match::op<ReluOp>(),
                       [](Value *) {
                         ADD_FAILURE();
                         return true;
                       },
                       "")),
            "expected relu, found input \"x\"");
}

TEST_F(MatchTest, Optional) {
  TensorType wide(DataType::F32, {6});
  std::vector<Dim> one{Dim(1)};
  Value *zeros = b.create<PadOp>(x, nullptr, one, one).result();
  Value *halves = b.create<PadOp>(x, half, one, one).result();
  double number = -1;
  auto pattern =
      match::op<PadOp>(match::value(), match::optional(match::uniform(number)));
  EXPECT_TRUE(match::match(zeros, pattern));
  EXPECT_EQ(number, -1);
  EXPECT_TRUE(match::match(halves, pattern));
  EXPECT_EQ(number, 0.5);
  EXPECT_EQ(why(halves, match::op<PadOp>(match::value(),
                                         match::optional(match::uniform(0.0)))),
            "operand 1 of pad: expected nothing or a constant of 0, found "
            "constant of 0.5");
}

TEST_F(MatchTest, AnyOf) {
  Value *a = nullptr, *c = nullptr;
  auto pattern = match::anyOf(
      match::op<AddOp>(match::value(a), match::constant()),
      match::op<AddOp>(match::op<MulOp>(match::value(), match::value(c))));
  EXPECT_TRUE(match::match(add, pattern));
  EXPECT_EQ(c, half);
  EXPECT_EQ(a, nullptr) << "captured by the branch that failed";
  EXPECT_EQ(why(x, match::anyOf(match::op<NegOp>(), match::op<ExpOp>(),
                                match::constant())),
            "expected neg or exp or a constant, found input \"x\"");
  // The branch that gets furthest tells.
  EXPECT_EQ(why(mul, match::anyOf(match::op<AddOp>(),
                                  match::op<MulOp>(match::constant()))),
            "operand 0 of mul: expected a constant, found relu (node \"r\" "
            "(Relu))");
}

TEST_F(MatchTest, Through) {
  std::vector<Dim> two{Dim(2), Dim(2)};
  Value *square = b.create<ReshapeOp>(relu, two).result();
  std::vector<int64_t> swap{1, 0};
  Value *turned = b.create<TransposeOp>(square, swap).result();
  Value *a = nullptr;
  auto pattern = match::through<ReshapeOp, TransposeOp>(
      match::op<ReluOp>(match::value(a)));
  EXPECT_TRUE(match::match(turned, pattern));
  EXPECT_EQ(a, x);
  EXPECT_TRUE(match::match(relu, pattern));
  EXPECT_EQ(why(turned, match::through<TransposeOp>(match::op<ReluOp>()))
                .substr(0, 29),
            "expected relu, found reshape ");
}

TEST_F(MatchTest, AFailedMatchCapturesNothing) {
  Value *a = nullptr, *c = nullptr;
  double number = -1;
  EXPECT_FALSE(match::match(
      add, match::op<AddOp>(
               match::op<MulOp>(match::value(a), match::uniform(number)),
               match::constant(c))));
  EXPECT_EQ(a, nullptr);
  EXPECT_EQ(c, nullptr);
  EXPECT_EQ(number, -1);
}

TEST_F(MatchTest, BuildsNoTextUnlessAsked) {
  match::Why why(false);
  EXPECT_FALSE(match::match(mul, match::op<AddOp>(), &why));
  EXPECT_EQ(why.text(), "");
  // A second match forgets what the first one said.
  match::Why asked;
  EXPECT_FALSE(match::match(mul, match::op<AddOp>(), &asked));
  EXPECT_NE(asked.text(), "");
  EXPECT_TRUE(match::match(mul, match::op<MulOp>(), &asked));
  EXPECT_EQ(asked.text(), "");
}

} // namespace
