// SPDX-License-Identifier: Apache-2.0
// Sessions on a GPU, with kernels that are written here as PTX: replay, changed
// pointers, streams, capture, programmatic launch, control flow, memory.
// Skipped where there is no GPU; then what is said of that is tested.
#include "RichBundle.h"
#include "ScaleKernel.h"
#include "SessionFixture.h"

#include "dlc/runtime.hpp"
#include "runtime/device/CudaDriver.h"
#include "runtime/device/Device.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace dlc::test;

namespace {

// y[i] = x[i] * w[i % 4] for i < min(n, *cell); parameters x, w, y, cell, n.
constexpr const char *kBody = R"(
  .reg .pred %q; .reg .b32 %r<4>; .reg .b64 %d<12>; .reg .f32 %f<3>;
  ld.param.u64 %d0, [p];      cvta.to.global.u64 %d0, %d0;
  ld.param.u64 %d1, [p + 8];  cvta.to.global.u64 %d1, %d1;
  ld.param.u64 %d2, [p + 16]; cvta.to.global.u64 %d2, %d2;
  ld.param.u64 %d3, [p + 24]; cvta.to.global.u64 %d3, %d3;
  ld.param.s64 %d4, [p + 32];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  cvt.s64.s32 %d5, %r3;
  ld.global.s64 %d6, [%d3];
  min.s64 %d6, %d6, %d4;
  setp.ge.s64 %q, %d5, %d6;
  @%q ret;
  shl.b64 %d7, %d5, 2;
  add.s64 %d8, %d0, %d7;
  ld.global.f32 %f0, [%d8];
  and.b64 %d9, %d5, 3;
  shl.b64 %d9, %d9, 2;
  add.s64 %d9, %d1, %d9;
  ld.global.f32 %f1, [%d9];
  mul.rn.f32 %f2, %f0, %f1;
  add.s64 %d10, %d2, %d7;
  st.global.f32 [%d10], %f2;
  ret;
}
)";

constexpr const char *kName = "dlc_scale_f32_00000001";

std::string ptx(bool pdl) {
  std::string head =
      pdl ? ".version 7.8\n.target sm_90\n" : ".version 6.3\n.target sm_75\n";
  std::string entry = std::string(".visible .entry ") + kName +
                      "(.param .align 8 .b8 p[40]) {\n";
  std::string wait = "griddepcontrol.launch_dependents;\n"
                     "griddepcontrol.wait;\n";
  return head + ".address_size 64\n" + entry + (pdl ? wait : "") + kBody;
}

struct Chain {
  int launches = 3;
  uint32_t streams = 1; ///< each launch on the next one
  bool pdl = false;
  bool copies = false; ///< the last step is a copy into the output
};

/// y[N] = x[N] times the weights, once for each launch of the chain.
dlc::bundle::VariantContent chainVariant(const Chain &chain) {
  PlanMaker m;
  PlanMaker::InOut io = m.inOut(0, int64_t(1) << 40);
  ScaleKernel scale(m, kName);
  scale.kernel().pdl = chain.pdl;
  uint32_t t[2] = {m.buffer(Space::Arena, io.bytes),
                   m.buffer(Space::Arena, io.bytes)};
  m.plan->streams = chain.streams;
  m.fill(scale.cell, m.pool.constant(8), 0x7fffffff, 4);
  uint32_t from = io.x;
  for (int i = 0; i < chain.launches; i++) {
    bool isLast = i == chain.launches - 1 && !chain.copies;
    uint32_t to = isLast ? io.y : t[i % 2];
    StepT &step = scale.launch(from, to, io.N);
    step.stream = uint32_t(i) % chain.streams;
    step.after = {uint32_t(i)};
    from = to;
  }
  if (chain.copies) {
    m.copy(from, io.y, io.bytes);
    m.plan->blocks[0]->steps.back()->after = {uint32_t(chain.launches)};
  }
  dlc::bundle::VariantContent variant =
      scale.variant(dlc::bundle::BinaryKind::Ptx, "compute_75", ptx(chain.pdl));
  variant.target = "portable";
  return variant;
}

std::vector<float> scaled(const std::vector<float> &x, const Chain &chain) {
  return dlc::test::scaled(x, chain.launches);
}

/// A session on a bundle of one variant, on the GPU.
struct Opened {
  BundleFile file;
  dlc::Bundle bundle;
  dlc::Session session;
  Opened(dlc::bundle::VariantContent variant,
         const dlc_session_options &options = dlc::sessionOptions())
      : file(fileOf(std::move(variant))), bundle(file.span().data(), file.size),
        session(bundle, options) {}
};

/// Memory of the session's device.
struct DeviceArray {
  dlc::Session &session;
  dlc_tensor tensor;
  DeviceArray(dlc::Session &session, const std::vector<float> &values)
      : session(session),
        tensor(dlc::tensor<float>(nullptr, {int64_t(values.size())},
                                  DLC_MEMORY_DEVICE)) {
    dlc::check(
        dlc_session_allocate(session.handle(), tensor.bytes + 4, &tensor.data));
    dlc::check(
        dlc_session_copy_from_host(session.handle(), &tensor, values.data()));
  }
  ~DeviceArray() { dlc_session_release(session.handle(), tensor.data); }
  std::vector<float> values() {
    std::vector<float> values(tensor.bytes / 4);
    dlc::check(
        dlc_session_copy_to_host(session.handle(), values.data(), &tensor));
    return values;
  }
};

class CudaSession : public testing::Test {
protected:
  void SetUp() override {
    if (dlc::Status status = dlc::cuda::openDriver(Driver); !status.ok())
      GTEST_SKIP() << status.sentence();
    cuda(Driver->primaryCtxRetain(&Context, 0));
    cuda(Driver->ctxPushCurrent(Context));
  }
  void TearDown() override {
    if (!Context)
      return;
    Driver->ctxPopCurrent(&Context);
    Driver->primaryCtxRelease(0);
  }
  void cuda(dlc::cuda::Result result) {
    ASSERT_TRUE(Driver->check(result, "the test's own call").ok())
        << Driver->check(result, "").sentence();
  }
  int major() {
    int value = 0;
    Driver->deviceGetAttribute(&value, dlc::cuda::kComputeMajor, 0);
    return value;
  }
  /// A run of a session that the caller has captured.
  struct CallersGraph {
    CudaSession &test;
    dlc::cuda::StreamHandle stream = nullptr;
    dlc::cuda::GraphHandle graph = nullptr;
    dlc::cuda::GraphExec executable = nullptr;

    CallersGraph(CudaSession &test, dlc::Session &session) : test(test) {
      const dlc::cuda::Driver &driver = *test.Driver;
      test.cuda(driver.streamCreate(&stream, dlc::cuda::kStreamNonBlocking));
      test.cuda(
          driver.streamBeginCapture(stream, dlc::cuda::kCaptureThreadLocal));
      session.runOn(stream);
      test.cuda(driver.streamEndCapture(stream, &graph));
      test.cuda(driver.graphInstantiate(&executable, graph, 0));
      test.cuda(driver.streamSynchronize(stream));
    }
    ~CallersGraph() {
      test.cuda(test.Driver->graphExecDestroy(executable));
      test.cuda(test.Driver->graphDestroy(graph));
      test.cuda(test.Driver->streamDestroy(stream));
    }
    void launch() {
      test.cuda(test.Driver->graphLaunch(executable, stream));
      test.cuda(test.Driver->streamSynchronize(stream));
    }
  };

  const dlc::cuda::Driver *Driver = nullptr;
  dlc::cuda::Context Context = nullptr;
};

dlc_session_options withGraphs(bool graphs) {
  dlc_session_options options = dlc::sessionOptions();
  options.graphs = graphs;
  return options;
}

} // namespace

TEST_F(CudaSession, RunsEveryKindOfChainInEveryShape) {
  std::vector<Chain> chains = {{1, 1, false, false},
                               {5, 1, false, false},
                               {4, 2, false, false},
                               {7, 3, false, true}};
  if (major() >= 9) {
    chains.push_back({40, 1, true, false});
    chains.push_back({9, 2, true, true});
  }
  for (const Chain &chain : chains)
    for (bool graphs : {true, false}) {
      Opened opened(chainVariant(chain), withGraphs(graphs));
      dlc::Session &session = opened.session;
      for (size_t n : {1, 63, 1000, 0, 1 << 20, 1000, 63}) {
        std::vector<float> x = randomFloats(n, uint32_t(n));
        session.bindInput("x", dlc::tensor(x.data(), {int64_t(n)}));
        for (int run = 0; run < 2; run++) {
          session.run();
          EXPECT_EQ(session.output<float>("y"), scaled(x, chain))
              << chain.launches << " launches, " << chain.streams
              << " streams, pdl " << chain.pdl << ", graphs " << graphs
              << ", N = " << n;
        }
      }
    }
}

TEST_F(CudaSession, ChangedPointersAreFollowed) {
  for (Chain chain : {Chain{3}, Chain{2, 1, false, true}, Chain{5, 2}})
    for (bool graphs : {true, false}) {
      Opened opened(chainVariant(chain), withGraphs(graphs));
      dlc::Session &session = opened.session;
      std::vector<std::vector<float>> xs;
      std::vector<std::unique_ptr<DeviceArray>> ins, outs;
      for (uint32_t i = 0; i < 4; i++) {
        xs.push_back(randomFloats(5000, i));
        ins.push_back(std::make_unique<DeviceArray>(session, xs[i]));
        outs.push_back(std::make_unique<DeviceArray>(
            session, std::vector<float>(5000, NAN)));
      }
      std::mt19937 random(3);
      for (int run = 0; run < 12; run++) {
        uint32_t i = random() % 4, o = random() % 4;
        session.bindInput("x", ins[i]->tensor);
        session.bindOutput("y", outs[o]->tensor);
        session.run();
        EXPECT_EQ(session.output("y").data, outs[o]->tensor.data);
        EXPECT_EQ(outs[o]->values(), scaled(xs[i], chain));
      }
      // Misaligned: through a copy, on either side.
      dlc_tensor in = ins[0]->tensor, out = outs[1]->tensor;
      in.data = static_cast<uint8_t *>(in.data) + 4;
      in.bytes -= 4;
      in.dims[0] -= 1;
      out.data = static_cast<uint8_t *>(out.data) + 4;
      session.bindInput("x", in);
      session.bindOutput("y", out);
      session.run();
      std::vector<float> rest(xs[0].begin() + 1, xs[0].end());
      EXPECT_EQ(session.output<float>("y"), scaled(rest, chain));
    }
}

TEST_F(CudaSession, RunsOnTheCallersStreamWithoutWaiting) {
  Chain chain{3};
  Opened opened(chainVariant(chain));
  dlc::Session &session = opened.session;
  std::vector<float> x = randomFloats(100000, 1);
  DeviceArray in(session, x), out(session, std::vector<float>(100000, NAN));
  session.bindInput("x", in.tensor);
  session.bindOutput("y", out.tensor);
  dlc::cuda::StreamHandle stream = nullptr;
  cuda(Driver->streamCreate(&stream, dlc::cuda::kStreamNonBlocking));
  for (int run = 0; run < 50; run++)
    session.runOn(stream);
  session.wait();
  EXPECT_EQ(out.values(), scaled(x, chain));
  cuda(Driver->streamDestroy(stream));
}

TEST_F(CudaSession, JoinsTheCallersCapture) {
  for (Chain chain : {Chain{3}, Chain{6, 3}}) {
    Opened opened(chainVariant(chain));
    dlc::Session &session = opened.session;
    std::vector<float> x = randomFloats(1000, 2);
    DeviceArray in(session, x), out(session, std::vector<float>(1000, NAN));
    session.bindInput("x", in.tensor);
    session.bindOutput("y", out.tensor);
    session.run();
    dlc_tensor poison = out.tensor;
    std::vector<float> nan(1000, NAN);
    dlc::check(
        dlc_session_copy_from_host(session.handle(), &poison, nan.data()));
    CallersGraph graph(*this, session);
    EXPECT_TRUE(std::isnan(out.values()[0])) << "it ran at once";
    graph.launch();
    EXPECT_EQ(out.values(), scaled(x, chain));
  }
}

TEST_F(CudaSession, KeepsTheCaptureThatItCannotJoin) {
  dlc::cuda::StreamHandle stream = nullptr;
  cuda(Driver->streamCreate(&stream, dlc::cuda::kStreamNonBlocking));
  auto refused = [&](dlc::Session &session, dlc_status status,
                     const std::string &part) {
    cuda(Driver->streamBeginCapture(stream, dlc::cuda::kCaptureThreadLocal));
    EXPECT_EQ(dlc_session_run_on(session.handle(), stream), status);
    std::string said = dlc_last_error();
    EXPECT_EQ(said.find("the stream is being captured: " + part), 0u) << said;
    // It was not invalidated.
    dlc::cuda::GraphHandle graph = nullptr;
    cuda(Driver->streamEndCapture(stream, &graph));
    EXPECT_NE(graph, nullptr);
    cuda(Driver->graphDestroy(graph));
  };
  Chain chain{6, 3};
  Opened opened(chainVariant(chain));
  dlc::Session &session = opened.session;
  std::vector<float> x = randomFloats(1000, 2);
  session.bindInput("x", dlc::tensor(x.data(), {1000}));
  refused(session, DLC_INVALID_ARGUMENT, "run once before with these shapes");
  session.run();
  EXPECT_EQ(session.output<float>("y"), scaled(x, chain));

  dlc::bundle::VariantContent variant = runnableVariant();
  variant.target = "portable";
  BundleFile other = fileOf(std::move(variant));
  dlc::Bundle controlled(other.span().data(), other.size);
  dlc::Session needsHost(controlled);
  int64_t count = 3;
  needsHost.bindInput("x", dlc::tensor(x.data(), {2, 4}));
  needsHost.bindInput("count", dlc::tensor(&count, {}));
  needsHost.run();
  refused(needsHost, DLC_UNSUPPORTED, "the model needs the host");
  cuda(Driver->streamDestroy(stream));
}

TEST_F(CudaSession, StateGoesOnInTheCallersGraph) {
  // y = h, then h = x.
  PlanMaker m;
  PlanMaker::InOut io = m.inOut(m.pool.constant(1000));
  m.copy(m.state("h", io.bytes), io.y, io.bytes);
  m.store(io.x);
  dlc::bundle::VariantContent variant = hostVariant(m);
  variant.target = "portable";
  Opened opened(std::move(variant));
  dlc::Session &session = opened.session;
  std::vector<float> before = randomFloats(1000, 1);
  DeviceArray in(session, before), out(session, std::vector<float>(1000, NAN));
  session.bindInput("x", in.tensor);
  session.bindOutput("y", out.tensor);
  session.run();
  CallersGraph graph(*this, session);
  for (uint32_t seed : {2, 3, 4}) {
    std::vector<float> next = randomFloats(1000, seed);
    dlc::check(
        dlc_session_copy_from_host(session.handle(), &in.tensor, next.data()));
    graph.launch();
    EXPECT_EQ(out.values(), before);
    before = next;
  }
}

TEST_F(CudaSession, ControlFlowGivesWhatTheHostGives) {
  // Copies, fills, a branch, a loop, state and a counted output.
  dlc::bundle::BundleBuilder builder;
  builder.addVariant(runnableVariant());
  dlc::bundle::VariantContent onGpu = runnableVariant();
  onGpu.target = "portable";
  builder.addVariant(std::move(onGpu));
  BundleFile file(builder);
  dlc::Bundle bundle(file.span().data(), file.size);
  dlc_session_options host = dlc::sessionOptions();
  host.device = DLC_DEVICE_HOST;
  dlc::Session expected(bundle, host), session(bundle);
  for (int64_t count : {5, 0, 8, 1})
    for (int64_t n : {2, 4}) {
      std::vector<float> x = randomFloats(size_t(n * 4), uint32_t(count));
      for (dlc::Session *each : {&expected, &session}) {
        each->bindInput("x", dlc::tensor(x.data(), {n, 4}));
        each->bindInput("count", dlc::tensor(&count, {}));
        each->run();
      }
      for (const char *name : {"z", "all", "w"}) {
        EXPECT_EQ(session.output<float>(name), expected.output<float>(name))
            << name << " of " << n << ", " << count;
        EXPECT_EQ(session.output(name).dims[0], expected.output(name).dims[0]);
      }
      // With a count of 0 only the first row of y is written.
      std::vector<float> y = session.output<float>("y");
      std::vector<float> hostY = expected.output<float>("y");
      y.resize(count ? y.size() : 4);
      hostY.resize(count ? hostY.size() : 4);
      EXPECT_EQ(y, hostY);
    }
}

TEST_F(CudaSession, OutOfMemoryIsSaidAndOver) {
  Chain chain{2};
  Opened opened(chainVariant(chain));
  dlc::Session &session = opened.session;
  dlc_tensor huge = dlc::tensor<float>(nullptr, {int64_t(1) << 38});
  huge.memory = DLC_MEMORY_DEVICE;
  huge.data = reinterpret_cast<void *>(256);
  session.bindInput("x", huge);
  EXPECT_EQ(dlc_session_run(session.handle()), DLC_OUT_OF_MEMORY);
  EXPECT_EQ(std::string(dlc_last_error())
                .find("out of GPU memory: cannot allocate "
                      "2199023255552 bytes for the arena, "),
            0u)
      << dlc_last_error();
  std::vector<float> x = randomFloats(100, 1);
  session.bindInput("x", dlc::tensor(x.data(), {100}));
  session.run();
  EXPECT_EQ(session.output<float>("y"), scaled(x, chain));
}

TEST_F(CudaSession, SaysWhatCannotRun) {
  auto sentence = [](dlc::bundle::VariantContent variant, dlc_status status) {
    BundleFile file = fileOf(std::move(variant));
    dlc::Bundle bundle(file.span().data(), file.size);
    try {
      dlc::Session session(bundle);
      ADD_FAILURE() << "it was taken";
      return std::string();
    } catch (const dlc::Error &error) {
      EXPECT_EQ(error.status(), status);
      return std::string(error.what());
    }
  };
  dlc::bundle::VariantContent newer = chainVariant({});
  newer.leastDriver = 99010;
  std::string text = sentence(std::move(newer), DLC_DRIVER_TOO_OLD);
  EXPECT_NE(text.find("the variant for portable needs one for CUDA 99.1"),
            std::string::npos)
      << text;
  dlc::bundle::VariantContent broken = chainVariant({});
  broken.binaries[0].bytes = ".version 6.3\n.target sm_75\nnonsense\n";
  text = sentence(std::move(broken), DLC_DEVICE_ERROR);
  EXPECT_EQ(text.find("cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_PTX"), 0u)
      << text;
  dlc::bundle::VariantContent other = chainVariant({});
  other.target = "sm_61";
  text = sentence(std::move(other), DLC_UNSUPPORTED);
  EXPECT_NE(text.find("the bundle holds sm_61 fp32"), std::string::npos)
      << text;
  dlc::bundle::VariantContent host = chainVariant({});
  host.target = "host";
  text = sentence(std::move(host), DLC_UNSUPPORTED);
}

TEST_F(CudaSession, SessionsShareABundleFromManyThreads) {
  Chain chain{4, 2};
  BundleFile file = fileOf(chainVariant(chain));
  dlc::Bundle bundle(file.span().data(), file.size);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (uint32_t t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      try {
        dlc::Session session(bundle, withGraphs(t % 2));
        for (uint32_t run = 0; run < 40; run++) {
          std::vector<float> x = randomFloats(1000 + run % 3 * 500, run + t);
          session.bindInput("x", dlc::tensor(x.data(), {int64_t(x.size())}));
          session.run();
          wrong += session.output<float>("y") != scaled(x, chain);
        }
      } catch (const dlc::Error &error) {
        ADD_FAILURE() << error.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaSession, ProfilesEachStep) {
  Chain chain{3};
  Opened opened(chainVariant(chain));
  dlc::Session &session = opened.session;
  std::vector<float> x = randomFloats(1000, 1);
  session.bindInput("x", dlc::tensor(x.data(), {1000}));
  std::vector<std::string> names;
  auto note = [](void *user, const dlc_step *step) {
    auto &names = *static_cast<std::vector<std::string> *>(user);
    names.push_back(step->name);
    EXPECT_GT(step->microseconds, 0);
    EXPECT_EQ(step->grid[0], step->threads ? 16u : 0u);
  };
  dlc::check(dlc_session_set_profiler(session.handle(), note, &names));
  session.run();
  EXPECT_EQ(session.output<float>("y"), scaled(x, chain));
  EXPECT_EQ(names, (std::vector<std::string>{"Fill", kName, kName, kName}));
}

TEST_F(CudaSession, EncodesTensorMaps) {
  if (major() < 9)
    GTEST_SKIP() << "tensor maps need sm_90";
  std::shared_ptr<dlc::Device> device;
  ASSERT_TRUE(dlc::openCudaDevice(0, device).ok());
  void *memory = nullptr;
  ASSERT_TRUE(device->allocate(1 << 20, "a test", memory).ok());
  dlc::bundle::VariantContent variant = launchVariant();
  alignas(64) uint8_t maps[2][128] = {};
  for (size_t i = 0; i < 2; i++) {
    dlc::TensorMapValues values;
    values.map = variant.plan->maps[i].get();
    values.base = memory;
    const uint64_t dims[4] = {64, 4, 8, 1}, strides[3] = {128, 512, 4096};
    std::copy_n(dims, 4, values.dims);
    std::copy_n(strides, 3, values.strides);
    dlc::Status status = device->encode(values, maps[i]);
    EXPECT_TRUE(status.ok()) << status.sentence();
    values.strides[0] = 24; // not a multiple of 16
    EXPECT_EQ(device->encode(values, maps[i]).code(), DLC_DEVICE_ERROR);
  }
  EXPECT_NE(memcmp(maps[0], maps[1], 128), 0);
  device->release(memory);
}

TEST(NoGpu, IsSaid) {
  const dlc::cuda::Driver *driver = nullptr;
  if (dlc::cuda::openDriver(driver).ok())
    GTEST_SKIP() << "there is a GPU";
  BundleFile file = richBundle();
  dlc::Bundle bundle(file.span().data(), file.size);
  try {
    dlc::Session session(bundle);
    FAIL() << "it was opened";
  } catch (const dlc::Error &error) {
    EXPECT_EQ(error.status(), DLC_NO_DEVICE);
    EXPECT_EQ(std::string(error.what()).find("no GPU: "), 0u) << error.what();
  }
}
