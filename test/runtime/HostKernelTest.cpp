// SPDX-License-Identifier: Apache-2.0
// Kernels on the host device through the whole runtime: parameters, bounds,
// several sessions in several threads.
#include "ScaleKernel.h"
#include "SessionFixture.h"

#include "dlc/runtime.hpp"

#include <atomic>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>

using namespace dlc::test;

/// y[N] = x[N] * w[i % 4] by the kernel `name`; the cell holds `count`, if
/// that is given, else all there is.
static BundleFile scaleBundle(const char *name, int64_t count = -1) {
  PlanMaker m;
  auto k = [&](int64_t value) { return m.pool.constant(value); };
  PlanMaker::InOut io = m.inOut(0, 1000000);
  ScaleKernel scale(m, name);
  scale.kernel().smem_bytes = 64;
  m.fill(scale.cell, k(8));
  if (count < 0)
    m.fill(scale.cell, k(4), 0x7fffffff, 4);
  else
    m.fill(scale.cell, k(1), uint32_t(count));
  scale.launch(io.x, io.y, io.N).nodes = {"scale_1"};
  std::ifstream object(DLC_TEST_KERNELS, std::ios::binary);
#if defined(__x86_64__)
  const char *machine = "x86_64";
#else
  const char *machine = "aarch64";
#endif
  return fileOf(
      scale.variant(dlc::bundle::BinaryKind::HostObject, machine,
                    std::string(std::istreambuf_iterator<char>(object), {})));
}

static dlc_session_options hostOptions(uint64_t seed = 0) {
  dlc_session_options options = dlc::sessionOptions();
  options.device = DLC_DEVICE_HOST;
  options.threads = 2;
  options.adversarial_seed = seed;
  return options;
}

TEST(HostKernel, RunsInEveryModeAndShape) {
  BundleFile file = scaleBundle("dlc_scale_f32_00000001");
  dlc::Bundle bundle(file.span().data(), file.size);
  for (uint64_t seed : {0, 1, 2}) {
    dlc::Session session(bundle, hostOptions(seed));
    EXPECT_EQ(session.deviceName(), "host");
    for (size_t n : {1, 63, 64, 1000, 0, 5}) {
      std::vector<float> x = randomFloats(n, uint32_t(n + seed));
      session.bindInput("x", dlc::tensor(x.data(), {int64_t(n)}));
      session.run();
      EXPECT_EQ(session.output<float>("y"), scaled(x)) << n << " " << seed;
    }
  }
}

TEST(HostKernel, MoreShapesThanAreKept) {
  BundleFile file = scaleBundle("dlc_scale_f32_00000001");
  dlc::Bundle bundle(file.span().data(), file.size);
  dlc::Session session(bundle, hostOptions());
  for (int round = 0; round < 3; round++)
    for (size_t n = 1; n <= 50; n++) {
      std::vector<float> x = randomFloats(n, uint32_t(n));
      session.bindInput("x", dlc::tensor(x.data(), {int64_t(n)}));
      session.run();
      ASSERT_EQ(session.output<float>("y"), scaled(x)) << n;
    }
}

TEST(HostKernel, ReadsDeviceCells) {
  BundleFile file = scaleBundle("dlc_scale_f32_00000001", 3);
  dlc::Bundle bundle(file.span().data(), file.size);
  dlc::Session session(bundle, hostOptions(1));
  std::vector<float> x = randomFloats(10, 1), y = scaled(x);
  session.bindInput("x", dlc::tensor(x.data(), {10}));
  session.run();
  std::vector<float> got = session.output<float>("y");
  for (size_t i = 0; i < 10; i++)
    // Poisoned before the run, and only three are written.
    EXPECT_EQ(i < 3 ? got[i] == y[i] : std::isnan(got[i]), true) << i;
}

TEST(HostKernel, WritingOutsideABufferIsFound) {
  BundleFile file = scaleBundle("dlc_overrun_f32_00000002");
  dlc::Bundle bundle(file.span().data(), file.size);
  dlc::Session session(bundle, hostOptions(1));
  std::vector<float> x = randomFloats(100, 1);
  session.bindInput("x", dlc::tensor(x.data(), {100}));
  try {
    session.run();
    FAIL() << "not found";
  } catch (const dlc::Error &error) {
    EXPECT_EQ(error.status(), DLC_KERNEL_ERROR);
    EXPECT_NE(std::string(error.what())
                  .find("launch of \"dlc_overrun_f32_00000002\" for node "
                        "scale_1: kernel \"dlc_overrun_f32_00000002\": "),
              std::string::npos)
        << error.what();
  }
}

TEST(HostKernel, NamingABlockOutsideTheClusterIsFound) {
  for (char last : {'4', '5', '6', '7'})
    for (uint64_t seed : {0, 1, 2, 3}) {
      std::string name = std::string("dlc_stray_f32_0000000") + last;
      BundleFile file = scaleBundle(name.c_str());
      dlc::Bundle bundle(file.span().data(), file.size);
      dlc::Session session(bundle, hostOptions(seed));
      std::vector<float> x = randomFloats(100, 1);
      session.bindInput("x", dlc::tensor(x.data(), {100}));
      EXPECT_EQ(dlc_session_run(session.handle()), DLC_KERNEL_ERROR);
      std::string said = dlc_last_error();
      EXPECT_NE(said.find("names block 9 of a cluster of 1"), std::string::npos)
          << name << ": " << said;
    }
}

TEST(HostKernel, AMissingEntryPointIsSaid) {
  BundleFile file = scaleBundle("dlc_nothing_f32_00000003");
  dlc::Bundle bundle(file.span().data(), file.size);
  try {
    dlc::Session session(bundle, hostOptions());
    FAIL() << "not found";
  } catch (const dlc::Error &error) {
    EXPECT_STREQ(error.what(), "kernel \"dlc_nothing_f32_00000003\" is not in "
                               "its binary");
  }
}

TEST(HostKernel, SessionsShareABundleFromManyThreads) {
  BundleFile file = scaleBundle("dlc_scale_f32_00000001");
  dlc::Bundle bundle(file.span().data(), file.size);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (uint32_t t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      try {
        for (uint32_t round = 0; round < 5; round++) {
          dlc::Session session(bundle, hostOptions(round % 2));
          for (uint32_t run = 0; run < 5; run++) {
            std::vector<float> x =
                randomFloats(10 + t * 100 + run, t * 100 + round * 10 + run);
            session.bindInput("x", dlc::tensor(x.data(), {int64_t(x.size())}));
            session.run();
            wrong += session.output<float>("y") != scaled(x);
          }
        }
      } catch (const dlc::Error &error) {
        ADD_FAILURE() << error.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}
