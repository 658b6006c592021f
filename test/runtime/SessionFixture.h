// SPDX-License-Identifier: Apache-2.0
// A bundle in memory with a session on the host, and arrays for it.
#pragma once

#include "PlanMaker.h"

#include "dlc/runtime.h"

#include <gtest/gtest.h>
#include <random>

namespace dlc::test {

inline std::vector<float> randomFloats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(random);
  return values;
}

template <class T>
dlc_tensor tensorOf(std::vector<T> &data, dlc_type type,
                    std::vector<int64_t> dims) {
  dlc_tensor tensor = {};
  tensor.data = data.data();
  tensor.bytes = data.size() * sizeof(T);
  tensor.type = type;
  tensor.rank = uint32_t(dims.size());
  std::copy(dims.begin(), dims.end(), tensor.dims);
  return tensor;
}

/// A bundle in memory and a session on the host.
struct Fixture {
  BundleFile file;
  dlc_bundle *bundle = nullptr;
  dlc_session *session = nullptr;

  explicit Fixture(PlanMaker &maker) : file(fileOf(hostVariant(maker))) {
    open();
  }
  explicit Fixture(bundle::BundleBuilder &builder) : file(builder) { open(); }
  ~Fixture() {
    dlc_session_destroy(session);
    dlc_bundle_close(bundle);
  }

  void open() {
    EXPECT_EQ(dlc_bundle_open_memory(file.span().data(), file.size, &bundle),
              DLC_OK)
        << dlc_last_error();
    dlc_session_options options;
    dlc_session_options_init(&options);
    options.device = DLC_DEVICE_HOST;
    EXPECT_EQ(dlc_session_create(bundle, &options, &session), DLC_OK)
        << dlc_last_error();
  }
  template <class T>
  dlc_status bind(size_t index, std::vector<T> &data, dlc_type type,
                  std::vector<int64_t> dims) {
    dlc_tensor tensor = tensorOf(data, type, dims);
    return dlc_session_bind_input(session, index, &tensor);
  }
  template <class T> std::vector<T> result(size_t index) {
    dlc_tensor tensor;
    EXPECT_EQ(dlc_session_output(session, index, &tensor), DLC_OK)
        << dlc_last_error();
    std::vector<T> values(tensor.bytes / sizeof(T));
    if (!values.empty())
      memcpy(values.data(), tensor.data, tensor.bytes);
    return values;
  }
  std::vector<int64_t> shape(size_t index) {
    dlc_tensor tensor;
    EXPECT_EQ(dlc_session_output(session, index, &tensor), DLC_OK);
    return {tensor.dims, tensor.dims + tensor.rank};
  }
};

} // namespace dlc::test
