// SPDX-License-Identifier: Apache-2.0
// Bundles of every version that was ever written still run. Each file in
// bundles/ is richBundle() of RichBundle.h as it was written at that version;
// it is never written again.
#include "dlc/runtime.hpp"

#include <cmath>
#include <gtest/gtest.h>

static const char *const kBundles[] = {"version-1.bundle"};

TEST(OldBundle, StillRuns) {
  for (const char *name : kBundles) {
    dlc::Bundle bundle(std::string(DLC_TEST_BUNDLES "/") + name);
    dlc_session_options options = dlc::sessionOptions();
    options.device = DLC_DEVICE_HOST;
    dlc::Session session(bundle, options);
    const std::vector<float> x = {1, -2, 3.5f, 4, 5, 6, 7, -8};
    const int64_t count = 3;
    session.bindInput("x", dlc::tensor(x.data(), {2, 4}));
    session.bindInput("count", dlc::tensor(&count, {}));
    session.run();
    EXPECT_EQ(session.output<float>("y"), x) << name;
    EXPECT_EQ(session.output<float>("z"), std::vector<float>(3, 1)) << name;
    EXPECT_EQ(session.output<float>("w"),
              (std::vector<float>{0.5f, -1.25f, 3, 1e-3f}))
        << name;
    EXPECT_EQ(session.output("all").dims[0], 3) << name;
    EXPECT_EQ(bundle.variants().size(), 2u) << name;
  }
}
