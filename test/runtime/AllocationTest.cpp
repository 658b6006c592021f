// SPDX-License-Identifier: Apache-2.0
// A run whose shapes were seen before allocates nothing.
#include "SessionFixture.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<bool> isCounting = false;
static std::atomic<int> allocations = 0;
/// How many allocations succeed until one fails; below zero: all.
static std::atomic<int> untilFailure = -1;

// Not inlined, or the compiler sees free() for what new gave.
__attribute__((noinline)) void *operator new(size_t bytes) {
  if (isCounting)
    allocations++;
  if (untilFailure >= 0 && untilFailure-- == 0)
    throw std::bad_alloc();
  if (void *memory = malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void *memory) noexcept {
  free(memory);
}
__attribute__((noinline)) void operator delete(void *memory, size_t) noexcept {
  free(memory);
}

using namespace dlc::test;

TEST(Allocation, ShapesThatRanOutOfMemoryLeaveNothingBehind) {
  PlanMaker m;
  PlanMaker::InOut io = m.inOut(1, 1000);
  m.copy(io.x, io.y, io.bytes);
  Fixture f(m);
  std::vector<float> data = randomFloats(1000, 1);
  // Fails once at each allocation, each time for shapes of its own.
  int64_t size = 1;
  for (bool failed = true; failed; size++) {
    ASSERT_LT(size, 500);
    ASSERT_EQ(f.bind(0, data, DLC_F32, {size}), DLC_OK);
    untilFailure = int(size) - 1;
    dlc_status status = dlc_session_run(f.session);
    failed = untilFailure < 0;
    untilFailure = -1;
    ASSERT_EQ(status, failed ? DLC_OUT_OF_MEMORY : DLC_OK) << dlc_last_error();
  }
  EXPECT_GT(size, 10);
  // Past the number of shapes that a session keeps.
  for (int64_t last = size + 40; size < last; size++) {
    ASSERT_EQ(f.bind(0, data, DLC_F32, {size}), DLC_OK);
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    EXPECT_EQ(f.result<float>(0),
              std::vector<float>(data.begin(), data.begin() + size));
  }
}

TEST(Allocation, NoneOnTheHotPath) {
  // Two streams, a fill, copies and state.
  PlanMaker m;
  PlanMaker::InOut io = m.inOut(1, 100);
  uint32_t t = m.buffer(Space::Arena, io.bytes);
  m.state("a name that is longer than a short string may be", io.bytes);
  m.plan->streams = 2;
  m.fill(t, io.bytes).stream = 1;
  m.copy(io.x, t, io.bytes);
  m.copy(t, io.y, io.bytes);
  m.store(t);
  Fixture f(m);
  std::vector<float> data[2] = {randomFloats(50, 1), randomFloats(50, 2)};
  dlc_tensor tensors[2] = {tensorOf(data[0], DLC_F32, {50}),
                           tensorOf(data[1], DLC_F32, {50})};
  std::vector<float> out[2] = {std::vector<float>(50), std::vector<float>(50)};
  dlc_tensor outs[2] = {tensorOf(out[0], DLC_F32, {50}),
                        tensorOf(out[1], DLC_F32, {50})};
  for (int run = 0; run < 10; run++) {
    isCounting = run >= 4;
    int k = run % 2;
    ASSERT_EQ(dlc_session_bind_input(f.session, 0, &tensors[k]), DLC_OK);
    ASSERT_EQ(dlc_session_bind_output(f.session, 0, &outs[k]), DLC_OK);
    ASSERT_EQ(dlc_session_run(f.session), DLC_OK) << dlc_last_error();
    isCounting = false;
    EXPECT_EQ(out[k], data[k]);
  }
  EXPECT_EQ(allocations, 0);
}
