// SPDX-License-Identifier: Apache-2.0
// The most that a counted size can be, in sizes of inputs.
#include "ir/Symbol.h"
#include <gtest/gtest.h>

using namespace dlc;

namespace {

struct HostBoundTest : testing::Test {
  SymbolTable symbols;
  Dim N = add("N"), M = add("M"), count = counted("count", N *Dim(3)),
      few = counted("few", Dim(7)), endless = counted("endless", std::nullopt);

  Dim add(const char *name) {
    symbols[name] = {name, SymbolHome::HostArgument, 0, {}, 1, {}};
    return Dim::symbol(name);
  }
  Dim counted(const char *name, std::optional<Dim> bound) {
    symbols[name] = {name, SymbolHome::DeviceCell, 0, {}, 1, bound};
    return Dim::symbol(name);
  }
  std::string bound(const Dim &d) {
    std::optional<Dim> b = hostBound(d, symbols);
    return b ? b->str() : "none";
  }
};

TEST_F(HostBoundTest, sizesOfInputsAreTheirOwn) {
  EXPECT_EQ(bound(N - M), (N - M).str());
  EXPECT_EQ(bound(Dim(5)), "5");
}

TEST_F(HostBoundTest, growsWithEachFactor) {
  EXPECT_EQ(bound(count), (N * Dim(3)).str());
  EXPECT_EQ(bound(count * M + Dim(2)), (N * M * Dim(3) + Dim(2)).str());
  EXPECT_EQ(bound(count * few), (N * Dim(21)).str());
}

TEST_F(HostBoundTest, whatIsTakenAwayIsAtLeastNothing) {
  EXPECT_EQ(bound(N - count), N.str());
  EXPECT_EQ(bound(N * Dim(3) - few), (N * Dim(3)).str());
  EXPECT_EQ(bound((M - Dim(4)) * count), (N * M * Dim(3)).str());
}

TEST_F(HostBoundTest, partsAndLimits) {
  EXPECT_EQ(bound(floorDiv(count, Dim(2))), floorDiv(N * Dim(3), Dim(2)).str());
  EXPECT_EQ(bound(ceilDiv(few, Dim(2))), "4");
  EXPECT_EQ(bound(min(count, M)), min(N * Dim(3), M).str());
  EXPECT_EQ(bound(min(endless, M)), M.str());
  EXPECT_EQ(bound(max(few, M)), max(Dim(7), M).str());
  EXPECT_EQ(bound(mod(endless, Dim(4))), "3");
}

TEST_F(HostBoundTest, noneWhereNothingLimits) {
  EXPECT_EQ(bound(endless), "none");
  EXPECT_EQ(bound(endless * N), "none");
  EXPECT_EQ(bound(max(endless, N)), "none");
  EXPECT_EQ(bound(endless * N - count), "none");
}

} // namespace
