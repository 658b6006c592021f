// SPDX-License-Identifier: Apache-2.0
// What the CUDA device asks of the driver, with a driver that only notes its
// calls: nothing is asked in a context that is not ours.
#include "RichBundle.h"

#include "runtime/device/CudaDevice.h"
#include "runtime/device/CudaGraph.h"

#include <functional>
#include <gtest/gtest.h>

using namespace dlc;
using namespace dlc::test;

namespace {

constexpr cuda::Result kContextDestroyed = 709;

/// The names of the functions that were called, in order.
std::vector<std::string> calls;
cuda::Result pushResult = cuda::kSuccess;

cuda::Driver notingDriver() {
  cuda::Driver driver;
  driver.version = 13000;
#define NOTE(member, symbol, arguments)                                        \
  driver.member = [](auto...) -> cuda::Result {                                \
    calls.push_back(#symbol);                                                  \
    return cuda::kSuccess;                                                     \
  };
  DLC_CUDA_FUNCTIONS(NOTE)
  DLC_CUDA_OPTIONAL(NOTE)
#undef NOTE
  driver.deviceGetCount = [](int *count) {
    *count = 1;
    return cuda::kSuccess;
  };
  driver.ctxPushCurrent = [](cuda::Context) { return pushResult; };
  driver.ctxPopCurrent = [](cuda::Context *) {
    calls.push_back("pop");
    return cuda::kSuccess;
  };
  driver.getErrorName = [](cuda::Result, const char **name) {
    *name = "CUDA_ERROR_CONTEXT_IS_DESTROYED";
    return cuda::kSuccess;
  };
  driver.getErrorString = [](cuda::Result, const char **text) {
    *text = "context is destroyed";
    return cuda::kSuccess;
  };
  return driver;
}

using Call = std::pair<const char *, std::function<Status()>>;

/// Everything that a session may ask of a GPU.
std::vector<Call> callsOf(Device &device, Module &module, Graph &graph) {
  static uint8_t memory[64];
  static bundle::VariantContent variant = launchVariant();
  static const plan::KernelT &kernel = *variant.plan->kernels[0];
  alignas(64) static uint8_t parameters[plan::kMaxParameterBytes];
  static void *out = nullptr;
  static bool capturing = false;
  static double time = 0;
  KernelLaunch launch;
  launch.kernel = &kernel;
  launch.parameters = parameters;
  auto map = [&device](size_t index) {
    return [&device, index] {
      TensorMapValues values;
      values.map = variant.plan->maps[index].get();
      return device.encode(values, parameters);
    };
  };
  return {
      {"cuMemAlloc_v2", [&] { return device.allocate(8, "a test", out); }},
      {"cuMemcpyHtoDAsync_v2",
       [&] { return device.copyIn(memory, memory + 32, 8, nullptr); }},
      {"cuMemcpyDtoHAsync_v2",
       [&] { return device.copyOut(memory, memory + 32, 8, nullptr); }},
      {"cuMemcpyDtoDAsync_v2",
       [&] { return device.copy(memory, memory + 32, 8, nullptr); }},
      {"cuMemsetD8Async",
       [&] { return device.fill(memory, 1, 1, 8, nullptr); }},
      {"cuStreamCreate", [&] { return device.createStream(out); }},
      {"cuStreamSynchronize", [&] { return device.synchronize(nullptr); }},
      {"cuStreamIsCapturing",
       [&] { return device.isCapturing(nullptr, capturing); }},
      {"cuEventCreate", [&] { return device.createEvent(out); }},
      {"cuEventRecord", [&] { return device.record(nullptr, nullptr); }},
      {"cuStreamWaitEvent", [&] { return device.wait(nullptr, nullptr); }},
      {"cuEventElapsedTime",
       [&] { return device.elapsed(nullptr, nullptr, time); }},
      {"cuModuleLoadDataEx",
       [&] {
         std::unique_ptr<Module> loaded;
         return device.load(bundle::BinaryKind::Ptx, "sm_90a", {memory, 4},
                            loaded);
       }},
      {"cuModuleGetFunction", [&] { return module.function(kernel, out); }},
      {"cuLaunchKernelEx",
       [&device, launch] { return device.launch(launch, {}, nullptr); }},
      {"cuTensorMapEncodeTiled", map(0)},
      {"cuTensorMapEncodeIm2col", map(1)},
      {"cuStreamBeginCapture_v2", [&] { return device.beginCapture(nullptr); }},
      {"cuStreamGetCaptureInfo_v3",
       [&] { return device.lastNode(nullptr, out); }},
      {"cuStreamEndCapture",
       [&] {
         std::unique_ptr<Graph> recorded;
         return device.endCapture(nullptr, recorded);
       }},
      {"cuGraphLaunch", [&] { return graph.launch(nullptr); }},
      {"cuGraphExecKernelNodeSetParams_v2",
       [&graph, launch] { return graph.update(nullptr, launch); }}};
}

class CudaContext : public testing::Test {
protected:
  void SetUp() override {
    pushResult = cuda::kSuccess;
    ASSERT_TRUE(openCudaDevice(Driver, 0, Gpu).ok());
    const uint8_t ptx[4] = {'p', 't', 'x', 0};
    ASSERT_TRUE(Gpu->load(bundle::BinaryKind::Ptx, "sm_90a", ptx, Loaded).ok());
    ASSERT_TRUE(Gpu->endCapture(nullptr, Recorded).ok());
    calls.clear();
  }
  cuda::Driver Driver = notingDriver();
  std::shared_ptr<Device> Gpu;
  std::unique_ptr<Module> Loaded;
  std::unique_ptr<Graph> Recorded;
};

} // namespace

TEST_F(CudaContext, IsLeftAfterEachCall) {
  for (const auto &[name, call] : callsOf(*Gpu, *Loaded, *Recorded)) {
    calls.clear();
    EXPECT_TRUE(call().ok()) << name;
    ASSERT_GE(calls.size(), 2u) << name;
    EXPECT_EQ(calls[0], name);
    EXPECT_EQ(calls.back(), "pop") << name;
  }
}

TEST_F(CudaContext, ThatCannotBeEnteredIsTheErrorOfTheCall) {
  pushResult = kContextDestroyed;
  for (const auto &[name, call] : callsOf(*Gpu, *Loaded, *Recorded)) {
    Status status = call();
    EXPECT_EQ(status.code(), DLC_DEVICE_ERROR) << name;
    EXPECT_EQ(status.sentence(),
              "cuCtxPushCurrent failed: CUDA_ERROR_CONTEXT_IS_DESTROYED "
              "(context is destroyed)")
        << name;
  }
  // What has no error to give does nothing.
  Gpu->release(this);
  Gpu->destroyStream(this);
  Gpu->destroyEvent(this);
  Gpu->abandonCapture(this);
  Loaded.reset();
  Recorded.reset();
  EXPECT_EQ(calls, std::vector<std::string>());
}
