// SPDX-License-Identifier: Apache-2.0
// Expressions: rounding, overflow, folding, printing.
#include "runtime/plan/Expression.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dlc::plan;
using Op = ExpressionOp;

TEST(Expression, DivisionsRoundAsInMathematics) {
  for (int64_t a = -7; a <= 7; a++)
    for (int64_t b : {-3, -2, -1, 1, 2, 3}) {
      int64_t floor = int64_t(std::floor(double(a) / double(b)));
      int64_t ceil = int64_t(std::ceil(double(a) / double(b)));
      EXPECT_EQ(apply(Op::FloorDiv, a, b), floor) << a << " " << b;
      EXPECT_EQ(apply(Op::CeilDiv, a, b), ceil) << a << " " << b;
      EXPECT_EQ(apply(Op::Mod, a, b), a - floor * b) << a << " " << b;
    }
}

TEST(Expression, WhatOverflowsIsNoValue) {
  EXPECT_FALSE(apply(Op::Add, INT64_MAX, 1));
  EXPECT_FALSE(apply(Op::Sub, INT64_MIN, 1));
  EXPECT_FALSE(apply(Op::Mul, int64_t(1) << 32, int64_t(1) << 31));
  EXPECT_FALSE(apply(Op::FloorDiv, INT64_MIN, -1));
  EXPECT_FALSE(apply(Op::CeilDiv, INT64_MIN, -1));
  EXPECT_FALSE(apply(Op::FloorDiv, 1, 0));
  EXPECT_FALSE(apply(Op::Mod, 1, 0));
  EXPECT_EQ(apply(Op::Mod, INT64_MIN, -1), 0);
}

TEST(Expression, InvalidNodesSpoilTheirUsersAndNoOthers) {
  std::vector<Expression> nodes;
  ExpressionPool pool(nodes);
  uint32_t n = pool.symbol(0);
  uint32_t square = pool.mul(n, n);
  uint32_t sum = pool.add(square, pool.constant(1));
  uint32_t next = pool.add(n, pool.constant(1));
  ExpressionValues values;
  int64_t small[] = {5}, large[] = {int64_t(1) << 40};
  values.evaluate(nodes, small);
  EXPECT_EQ(values.get(sum), 26);
  values.evaluate(nodes, large);
  EXPECT_FALSE(values.get(square));
  EXPECT_FALSE(values.get(sum));
  EXPECT_EQ(values.get(next), (int64_t(1) << 40) + 1);
  EXPECT_FALSE(values.get(uint32_t(nodes.size())));
  EXPECT_EQ(values.getOr(kNone, 7), 7);
}

TEST(Expression, OperandsBehindTheirUserAreInvalid) {
  std::vector<Expression> nodes = {{Op::Add, 0, 1, 0}, {Op::Const, 0, 0, 3}};
  ExpressionValues values;
  values.evaluate(nodes, {});
  EXPECT_FALSE(values.get(0));
  EXPECT_EQ(values.get(1), 3);
}

TEST(Expression, PoolSharesAndFolds) {
  std::vector<Expression> nodes;
  ExpressionPool pool(nodes);
  uint32_t n = pool.symbol(0);
  uint32_t one = pool.constant(1);
  EXPECT_EQ(pool.mul(n, one), n);
  EXPECT_EQ(pool.mul(one, n), n);
  EXPECT_EQ(pool.add(n, pool.constant(0)), n);
  EXPECT_EQ(pool.binary(Op::CeilDiv, n, one), n);
  EXPECT_EQ(pool.add(one, one), pool.constant(2));
  EXPECT_EQ(pool.mul(n, n), pool.mul(n, n));
  // An overflow of constants is kept, to be reported when it is needed.
  uint32_t huge = pool.constant(INT64_MAX);
  uint32_t overflow = pool.add(huge, one);
  EXPECT_EQ(nodes[overflow].op(), Op::Add);
}

TEST(Expression, Prints) {
  std::vector<Expression> nodes;
  ExpressionPool pool(nodes);
  uint32_t n = pool.symbol(0), w = pool.symbol(1);
  uint32_t two = pool.constant(2);
  uint32_t sum = pool.add(pool.binary(Op::CeilDiv, w, two), n);
  EXPECT_EQ(print(nodes, pool.mul(sum, two), {"N", "W"}),
            "(ceildiv(W,2) + N)*2");
}

TEST(Expression, PrintingASharedPoolEnds) {
  std::vector<Expression> nodes = {{Op::Symbol, 0, 0, 0}};
  for (uint32_t i = 1; i < 200; i++)
    nodes.emplace_back(Op::Add, i - 1, i - 1, 0);
  EXPECT_NE(print(nodes, 199, {"N"}).find("..."), std::string::npos);
}

TEST(Expression, FindsSymbols) {
  std::vector<Expression> nodes;
  ExpressionPool pool(nodes);
  uint32_t n = pool.symbol(0), w = pool.symbol(2);
  uint32_t product = pool.mul(w, pool.constant(3));
  EXPECT_EQ(symbolsOf(nodes, product, 3),
            (std::vector<bool>{false, false, true}));
  EXPECT_EQ(symbolsOf(nodes, pool.add(product, n), 3),
            (std::vector<bool>{true, false, true}));
}
