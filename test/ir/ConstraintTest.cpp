// SPDX-License-Identifier: Apache-2.0
// What is taken for granted of sizes: proofs, records, checks.
#include "ir/Text.h"
#include "ir/infer/Assumptions.h"

#include <gtest/gtest.h>

using namespace dlc;

namespace {

const Dim H = Dim::symbol("H"), W = Dim::symbol("W");

SymbolTable symbols(int64_t lower, std::optional<int64_t> upper,
                    int64_t divisor) {
  SymbolTable table;
  for (const char *name : {"H", "W"}) {
    Symbol s;
    s.name = name;
    s.lower = lower;
    s.upper = upper;
    s.divisor = divisor;
    table.emplace(s.name, s);
  }
  return table;
}

Proof equal(const Dim &a, const Dim &b, const SymbolTable &table) {
  return prove({a, Relation::Equal, b, ""}, table);
}

Proof atMost(const Dim &a, const Dim &b, const SymbolTable &table) {
  return prove({a, Relation::LessEqual, b, ""}, table);
}

TEST(Constraint, UsesRangesAndDivisors) {
  Dim fine = ceilDiv(H, 16), coarse = ceilDiv(H, 32) * Dim(2);
  EXPECT_EQ(equal(fine, coarse, symbols(1, {}, 1)), Proof::Unknown);
  EXPECT_EQ(equal(fine, coarse, symbols(32, {}, 32)), Proof::Proved);
  EXPECT_EQ(equal(H, W, symbols(7, 7, 1)), Proof::Proved);
  EXPECT_EQ(equal(H, W + Dim(100), symbols(1, 50, 1)), Proof::Refuted);
  EXPECT_EQ(equal(H, W + Dim(100), symbols(1, 101, 1)), Proof::Unknown);
  EXPECT_EQ(atMost(1, H, symbols(1, {}, 1)), Proof::Proved);
  EXPECT_EQ(atMost(1, H, symbols(0, {}, 1)), Proof::Unknown);
  EXPECT_EQ(atMost(9, H, symbols(0, 8, 1)), Proof::Refuted);
}

/// What is proved holds for every value, what is refuted for none.
TEST(Constraint, ProofsAgreeWithValues) {
  const Dim sizes[] = {H,
                       W,
                       ceilDiv(H, 3) * Dim(3),
                       floorDiv(H, 4) * Dim(4) + Dim(1),
                       floorDiv(H - Dim(3), 2) + Dim(1),
                       min(H, 7),
                       max(H - Dim(5), 0),
                       ceilDiv(H, 2) + floorDiv(H, 2),
                       H * W,
                       Dim(12)};
  unsigned proved = 0;
  for (int64_t divisor : {1, 2, 6}) {
    SymbolTable table = symbols(divisor, 24, divisor);
    for (const Dim &a : sizes)
      for (const Dim &b : sizes)
        for (Relation relation : {Relation::Equal, Relation::LessEqual}) {
          Proof found = prove({a, relation, b, ""}, table);
          proved += found == Proof::Proved;
          if (found == Proof::Unknown)
            continue;
          for (int64_t h = divisor; h <= 24; h += divisor)
            for (int64_t w = divisor; w <= 24; w += divisor) {
              auto value = [&](llvm::StringRef name) {
                return std::optional(name == "H" ? h : w);
              };
              int64_t x = *a.evaluate(value), y = *b.evaluate(value);
              EXPECT_EQ(relation == Relation::Equal ? x == y : x <= y,
                        found == Proof::Proved)
                  << a.str() << " " << b.str() << " " << h << " " << w;
            }
        }
  }
  EXPECT_GT(proved, 50u);
}

TEST(Constraint, WindowsAndStepsAreProved) {
  SymbolTable table = symbols(1, {}, 1);
  // The last position of a slice with a step.
  EXPECT_EQ(atMost(ceilDiv(H, 16) * Dim(16) - Dim(15), H, table),
            Proof::Proved);
  EXPECT_EQ(atMost(floorDiv(H, 2) * Dim(2), H, table), Proof::Proved);
  EXPECT_EQ(atMost(floorDiv(H, 2), H, table), Proof::Proved);
  EXPECT_EQ(atMost(floorDiv(H, 2) * Dim(2) + Dim(1), H, table), Proof::Unknown);
}

TEST(Constraint, ExtremaAreProved) {
  SymbolTable table = symbols(0, {}, 1);
  EXPECT_EQ(atMost(min(H, 100), H, table), Proof::Proved);
  EXPECT_EQ(atMost(H, max(H, W), table), Proof::Proved);
  EXPECT_EQ(atMost(min(H, 7), max(W, 7), table), Proof::Proved);
  EXPECT_EQ(atMost(max(H - Dim(5), 0), H, table), Proof::Proved);
  EXPECT_EQ(atMost(max(H - Dim(5), 1), H, table), Proof::Unknown);
  EXPECT_EQ(atMost(H, min(H, W), table), Proof::Unknown);
}

TEST(Constraint, ListedOnce) {
  SymbolTable table = symbols(1, {}, 1);
  ConstraintList list;
  assume(list, table, H, Relation::Equal, W, "first");
  assume(list, table, W, Relation::Equal, H, "second");
  assume(list, table, 0, Relation::LessEqual, H, "proved");
  assume(list, table, W, Relation::LessEqual, H, "third");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].sentence, "first");
  EXPECT_EQ(list[1].sentence, "third");
  auto check = [&](int64_t h, std::optional<int64_t> w) {
    return llvm::toString(checkConstraints(
        list, [&](llvm::StringRef name) -> std::optional<int64_t> {
          return name == "H" ? std::optional(h) : w;
        }));
  };
  EXPECT_EQ(check(4, 4), "");
  EXPECT_EQ(check(4, {}), "");
  EXPECT_EQ(check(4, 5), "first: got 4 and 5");
}

constexpr const char *kText = R"dlc(module {
  symbol "H" range(1, *)
  symbol "W" range(1, *)
  graph @main(%x: tensor<"H"x3xf32>, %y: tensor<"W"x3xf32>) -> (%2) {
    %0 = add(%x, %y) : tensor<"H"x3xf32> loc("sum (Add)")
    %1 = concat(%0, %y) {axis = 1} : tensor<"H"x6xf32>
    %2 = reshape(%1) {shape = ["W", 6]} : tensor<"W"x6xf32>
  }
}
)dlc";

TEST(Constraint, RecordedPrintedParsedCloned) {
  llvm::Expected<std::unique_ptr<Module>> module = parse(kText, "test");
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  ASSERT_FALSE(bool(recordAssumptions(**module)));
  ASSERT_EQ((*module)->constraints.size(), 2u);
  EXPECT_EQ(
      (*module)->constraints[0].sentence,
      "node \"sum\" (Add): expected shapes that agree in dimension 0 (one that "
      "repeats has to be 1 at compile time: --shape), \"W\" == \"H\"");
  ASSERT_FALSE(bool(recordAssumptions(**module)));
  std::string text = print(**module);
  EXPECT_EQ((*module)->constraints.size(), 2u) << text;
  EXPECT_EQ(print(*(*module)->clone()), text);
  llvm::Expected<std::unique_ptr<Module>> again = parse(text, "again");
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(print(**again), text);
  ASSERT_FALSE(bool(verify(**again)));
}

} // namespace
