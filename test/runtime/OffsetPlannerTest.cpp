// SPDX-License-Identifier: Apache-2.0
// The offset planner: nothing that is live at once overlaps, little is wasted.
#include "runtime/plan/OffsetPlanner.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace dlc::plan;

static bool overlapInTime(const Lifetime &a, const Lifetime &b) {
  return a.first <= b.last && b.first <= a.last;
}

static void expectSound(const std::vector<Lifetime> &buffers) {
  std::optional<Placement> placement = planOffsets(buffers);
  ASSERT_TRUE(placement);
  for (size_t i = 0; i < buffers.size(); i++) {
    uint64_t begin = placement->offsets[i], end = begin + buffers[i].bytes;
    EXPECT_EQ(begin % buffers[i].alignment, 0u);
    EXPECT_LE(end, placement->bytes);
    for (size_t k = 0; k < i; k++) {
      if (!overlapInTime(buffers[i], buffers[k]) || !buffers[i].bytes ||
          !buffers[k].bytes)
        continue;
      EXPECT_TRUE(placement->offsets[k] + buffers[k].bytes <= begin ||
                  end <= placement->offsets[k])
          << i << " and " << k;
    }
  }
}

TEST(OffsetPlanner, RandomBuffersNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; round++) {
    std::vector<Lifetime> buffers(random() % 60);
    for (Lifetime &buffer : buffers) {
      buffer.bytes = random() % 5 ? random() % 100000 : 0;
      buffer.first = random() % 50;
      buffer.last = buffer.first + random() % 10;
      buffer.alignment = 1u << random() % 10;
    }
    expectSound(buffers);
  }
}

TEST(OffsetPlanner, AChainNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (uint32_t i = 0; i < 50; i++)
    chain.push_back({1024, i, i + 1, 256});
  expectSound(chain);
  EXPECT_EQ(planOffsets(chain)->bytes, 2048u);
}

TEST(OffsetPlanner, FillsTheSmallestGap) {
  // Two gaps, of 512 and 256 bytes: the small buffer takes the small one.
  std::vector<Lifetime> buffers = {{4096, 0, 9, 256}, {512, 0, 0, 256},
                                   {2048, 0, 9, 256}, {256, 0, 0, 256},
                                   {1024, 0, 9, 256}, {256, 1, 9, 256}};
  expectSound(buffers);
  std::optional<Placement> placement = planOffsets(buffers);
  EXPECT_EQ(placement->bytes, 4096u + 2048 + 1024 + 512 + 256);
}

TEST(OffsetPlanner, IsAFunction) {
  std::vector<Lifetime> buffers;
  for (uint32_t i = 0; i < 40; i++)
    buffers.push_back({(i * 7919) % 5000 + 1, i % 13, i % 13 + i % 5, 256});
  EXPECT_EQ(planOffsets(buffers)->offsets, planOffsets(buffers)->offsets);
}

TEST(OffsetPlanner, RefusesWhatDoesNotFit) {
  std::vector<Lifetime> huge(3, {uint64_t(1) << 62, 0, 1, 256});
  EXPECT_FALSE(planOffsets(huge));
  std::vector<Lifetime> odd = {{16, 0, 1, 3}};
  EXPECT_FALSE(planOffsets(odd));
  EXPECT_EQ(planOffsets({})->bytes, 0u);
}
