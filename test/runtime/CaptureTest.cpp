// SPDX-License-Identifier: Apache-2.0
// Runs on a stream that the caller is capturing, on a device that has no GPU
// and keeps to the rules of one: what must not be done during a capture fails.
#include "RichBundle.h"
#include "SessionFixture.h"

#include "runtime/Session.h"

#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>

using namespace dlc;
using namespace dlc::test;

namespace {

/// Memory of the host; copies and fills happen at once, or during a capture are
/// noted for replay().
class CapturingDevice final : public Device {
public:
  Stream captured = nullptr; ///< null: none
  bool isBroken = false;     ///< something forbidden was asked for
  std::vector<std::function<void()>> steps;

  CapturingDevice() { Name = "a test"; }
  void replay() {
    for (auto &step : steps)
      step();
  }

  bool isHost() const override { return false; }
  int64_t multiprocessors() const override { return 1; }
  uint32_t rank(const std::string &target) const override {
    return target == "host";
  }

  Status allocate(uint64_t bytes, std::string_view, void *&memory) override {
    memory = aligned_alloc(256, (bytes + 256) / 256 * 256);
    memset(memory, 0xee, bytes);
    return allowed();
  }
  void release(void *memory) override {
    (void)allowed();
    free(memory);
  }
  Status createStream(Stream &stream) override {
    stream = reinterpret_cast<Stream>(++Streams);
    return allowed();
  }
  void destroyStream(Stream) override {}
  Status synchronize(Stream stream) override {
    return stream == captured && stream ? allowed() : Status();
  }
  Status isCapturing(Stream stream, bool &capturing) override {
    capturing = captured && stream == captured;
    return Status();
  }
  Status createEvent(Event &event) override {
    event = nullptr;
    return allowed();
  }
  void destroyEvent(Event) override {}
  Status record(Event, Stream) override { return Status(); }
  Status wait(Stream, Event) override { return Status(); }
  Status elapsed(Event, Event, double &microseconds) override {
    microseconds = 1;
    return allowed();
  }

  Status copy(void *to, const void *from, uint64_t bytes,
              Stream stream) override {
    return step(stream, [=] { memmove(to, from, bytes); });
  }
  Status fill(void *to, uint32_t value, uint32_t width, uint64_t bytes,
              Stream stream) override {
    return step(stream, [=] {
      for (uint64_t i = 0; i < bytes; i++)
        static_cast<uint8_t *>(to)[i] = uint8_t(value >> 8 * (i % width));
    });
  }
  Status load(bundle::BinaryKind, const std::string &, std::span<const uint8_t>,
              std::unique_ptr<Module> &) override {
    return allowed();
  }
  Status launch(const KernelLaunch &, const LaunchMode &, Stream) override {
    return Status();
  }
  Status encode(const TensorMapValues &, uint8_t *) override {
    return Status();
  }

private:
  Status allowed() {
    if (!captured)
      return Status();
    isBroken = true;
    return Status(DLC_DEVICE_ERROR, "forbidden during a capture");
  }
  Status step(Stream stream, std::function<void()> what) {
    if (stream && stream == captured)
      steps.push_back(std::move(what));
    else
      what();
    return Status();
  }
  uintptr_t Streams = 0;
};

/// Of the caller.
const Stream kStream = reinterpret_cast<Stream>(uintptr_t(1000));

struct Capture {
  BundleFile file;
  std::shared_ptr<CapturingDevice> device = std::make_shared<CapturingDevice>();
  std::unique_ptr<Session> session;

  explicit Capture(bundle::VariantContent variant)
      : file(fileOf(std::move(variant))) {
    std::shared_ptr<const bundle::BundleReader> reader;
    EXPECT_TRUE(
        bundle::BundleReader::openMemory(file.span().data(), file.size, reader)
            .ok());
    Status status = Session::create(
        std::make_shared<DeviceBundle>(reader, device), {}, session);
    EXPECT_TRUE(status.ok()) << status.sentence();
  }
  template <class T>
  void bind(size_t index, std::vector<T> &data, dlc_type type,
            std::vector<int64_t> dims) {
    Status status =
        session->bindInput(index, tensorOf(data, type, std::move(dims)));
    EXPECT_TRUE(status.ok()) << status.sentence();
  }
  void run() {
    Status status = session->run(kStream);
    EXPECT_TRUE(status.ok()) << status.sentence();
  }
  /// What a run on a captured stream says; "" when it joins the capture.
  std::string captured(std::optional<Stream> stream = kStream) {
    device->captured = stream.value_or(session->stream());
    device->steps.clear();
    Status status = session->run(stream);
    device->captured = nullptr;
    EXPECT_FALSE(device->isBroken);
    if (!status.ok()) {
      EXPECT_EQ(device->steps.size(), 0u) << "the stream was touched";
    }
    Code = status.code();
    return status.sentence();
  }
  dlc_status code() const { return Code; }

private:
  dlc_status Code = DLC_OK;
};

/// y[N] = x[N] through the arena, and y2 = state h, which becomes x.
bundle::VariantContent statePlan(bool hasState) {
  PlanMaker m;
  PlanMaker::InOut io = m.inOut(1, 100);
  uint32_t t = m.buffer(Space::Arena, io.bytes);
  m.copy(io.x, t, io.bytes);
  m.copy(hasState ? m.state("h", io.bytes) : t, io.y, io.bytes);
  if (hasState)
    m.store(t);
  return hostVariant(m);
}

std::vector<float> values(const dlc_tensor &tensor) {
  std::vector<float> values(tensor.bytes / 4);
  memcpy(values.data(), tensor.data, tensor.bytes);
  return values;
}

constexpr const char *kRunOnce =
    "the stream is being captured: run once before with these shapes, so that "
    "kernels and memory are there";

std::vector<float> numbers(float first) {
  return {first, first + 1, first * 2, -first};
}

/// Where the numbers lie is bound, and stays.
void assign(std::vector<float> &to, const std::vector<float> &from) {
  std::copy(from.begin(), from.end(), to.begin());
}

} // namespace

TEST(Capture, IsJoinedByARunThatWasMadeBefore) {
  Capture f(statePlan(false));
  std::vector<float> x = numbers(1);
  f.bind(0, x, DLC_F32, {4});
  EXPECT_EQ(f.captured(), kRunOnce);
  EXPECT_EQ(f.code(), DLC_INVALID_ARGUMENT);
  f.run();
  EXPECT_EQ(f.captured(), "");
  assign(x, numbers(7));
  f.device->replay();
  dlc_tensor y;
  ASSERT_TRUE(f.session->output(0, y).ok());
  EXPECT_EQ(values(y), x);
  // Other shapes are another run.
  f.bind(0, x, DLC_F32, {3});
  EXPECT_EQ(f.captured(), kRunOnce);
  // To ask for the arena prepares shapes and runs nothing.
  uint64_t bytes = 0;
  ASSERT_TRUE(f.session->arenaBytes(bytes).ok());
  EXPECT_EQ(f.captured(), kRunOnce);
}

TEST(Capture, LeavesARunInFlightAlone) {
  Capture f(statePlan(false));
  std::vector<float> x = numbers(1);
  f.bind(0, x, DLC_F32, {4});
  Status status = f.session->run(reinterpret_cast<Stream>(uintptr_t(2000)));
  ASSERT_TRUE(status.ok()) << status.sentence();
  EXPECT_EQ(f.captured(), "");
  EXPECT_EQ(f.captured(), "");
}

TEST(Capture, GetsNoMemory) {
  Capture f(statePlan(false));
  alignas(256) static float memory[128];
  dlc_tensor own = {};
  own.data = memory;
  own.bytes = 16;
  own.type = DLC_F32;
  own.memory = DLC_MEMORY_DEVICE;
  own.rank = 1;
  own.dims[0] = 4;
  ASSERT_TRUE(f.session->bindInput(0, own).ok());
  dlc_tensor out = own;
  out.data = memory + 64;
  ASSERT_TRUE(f.session->bindOutput(0, &out).ok());
  f.run();
  EXPECT_EQ(f.captured(), "");
  auto says = [](const std::string &what) {
    return "the stream is being captured: " + what +
           " has no memory yet, run once before with everything bound as now";
  };
  own.memory = DLC_MEMORY_HOST;
  ASSERT_TRUE(f.session->bindInput(0, own).ok());
  EXPECT_EQ(f.captured(), says("input \"x\""));
  EXPECT_EQ(f.code(), DLC_INVALID_ARGUMENT);
  own.memory = DLC_MEMORY_DEVICE;
  ASSERT_TRUE(f.session->bindInput(0, own).ok());
  ASSERT_TRUE(f.session->bindOutput(0, nullptr).ok());
  EXPECT_EQ(f.captured(), says("output \"y\""));
  f.run();
  EXPECT_EQ(f.captured(), "");
}

TEST(Capture, DoesNotSetStateBack) {
  Capture f(statePlan(true));
  std::vector<float> x = numbers(1), first = x;
  f.bind(0, x, DLC_F32, {4});
  EXPECT_EQ(f.captured(), kRunOnce);
  f.run();
  ASSERT_EQ(f.captured(), "");
  dlc_tensor y;
  ASSERT_TRUE(f.session->output(0, y).ok());
  for (float next : {5, 6, 7}) {
    assign(x, numbers(next));
    f.device->replay();
    EXPECT_EQ(values(y), first);
    first = x;
  }
  const std::string atStart =
      "the stream is being captured: state \"h\" is at its beginning, and each "
      "replay would set it back to that; run once before";
  f.session->resetState();
  EXPECT_EQ(f.captured(), atStart);
  f.run();
  EXPECT_EQ(f.captured(), "");
  // Other shapes have their state in other memory.
  f.bind(0, x, DLC_F32, {3});
  f.run();
  f.bind(0, x, DLC_F32, {4});
  EXPECT_EQ(f.captured(), atStart);
}

TEST(Capture, IsNotForModelsThatNeedTheHost) {
  Capture f(runnableVariant());
  std::vector<float> x = numbers(1);
  std::vector<int64_t> count = {3};
  f.bind(0, x, DLC_F32, {1, 4});
  f.bind(1, count, DLC_I64, {});
  f.run();
  EXPECT_EQ(f.captured(),
            "the stream is being captured: the model needs the host while it "
            "runs (a branch, a loop or a value that the host reads)");
  EXPECT_EQ(f.code(), DLC_UNSUPPORTED);
  // The last run's outputs are still there.
  dlc_tensor z;
  ASSERT_TRUE(f.session->output(1, z).ok());
  EXPECT_EQ(values(z), std::vector<float>(3, 1));
}

TEST(Capture, IsNotForOutputsThatTheDeviceCounts) {
  PlanMaker m;
  auto k = [&](int64_t value) { return m.pool.constant(value); };
  uint32_t c = m.buffer(Space::Input, k(8)), cell = m.buffer(Space::Cell, k(8));
  uint32_t y = m.buffer(Space::Output, k(40));
  uint32_t n = m.symbol("count", Home::DeviceCell, 0, 10, kNone, 0, cell);
  m.port(m.plan->inputs, "c", ElementType::I64, {}, c);
  m.port(m.plan->outputs, "y", ElementType::F32, {m.pool.symbol(n)}, y);
  m.copy(c, cell, k(8));
  Capture f(hostVariant(m));
  std::vector<int64_t> count = {3};
  f.bind(0, count, DLC_I64, {});
  f.run();
  EXPECT_EQ(f.captured(), "the stream is being captured: output \"y\" has a "
                          "size that only the device knows, and the host waits "
                          "for it");
  EXPECT_EQ(f.code(), DLC_UNSUPPORTED);
}

TEST(Capture, IsNotWaitedFor) {
  Capture f(statePlan(false));
  std::vector<float> x = numbers(1);
  f.bind(0, x, DLC_F32, {4});
  f.run();
  EXPECT_EQ(f.captured(std::nullopt),
            "the session's stream is being captured: dlc_session_run waits for "
            "the end of the run, dlc_session_run_on does not");
  EXPECT_EQ(f.captured(f.session->stream()), "");
  f.session->setProfiler([](void *, const dlc_step *) {}, nullptr);
  EXPECT_EQ(f.captured(), "the stream is being captured: a profiler has each "
                          "step waited for, take it off");
}

TEST(Capture, IsNotMadeByDevicesWithoutGraphs) {
  CapturingDevice device;
  std::shared_ptr<Device> host;
  ASSERT_TRUE(openHostDevice(host).ok());
  for (auto [each, name] :
       {std::pair<Device *, const char *>(&device, "a test"),
        std::pair<Device *, const char *>(host.get(), "host")}) {
    EXPECT_FALSE(each->hasGraphs());
    Status status = each->beginCapture(nullptr);
    EXPECT_EQ(status.code(), DLC_INTERNAL);
    EXPECT_EQ(status.sentence(),
              "\"" + std::string(name) + "\" records no graphs");
  }
}
