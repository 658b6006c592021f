// SPDX-License-Identifier: Apache-2.0
// The host device: kernels compiled for this machine, run by the emulator's
// engine (libdlc_host.so), which is opened when the device is asked for.
#include "runtime/device/Device.h"
#include "runtime/device/SharedLibrary.h"
#include "runtime/host/Engine.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace dlc;

#if defined(__x86_64__)
static constexpr const char *kMachine = "x86_64";
#elif defined(__aarch64__)
static constexpr const char *kMachine = "aarch64";
#else
static constexpr const char *kMachine = "unknown";
#endif

namespace {

struct EngineApi {
  SharedLibrary library;
  decltype(&dlc_host_launch) launch = nullptr;
  decltype(&dlc_host_engine) engine = nullptr;
  decltype(&dlc_host_encode_tiled) encodeTiled = nullptr;
  decltype(&dlc_host_encode_im2col) encodeIm2col = nullptr;
};

/// A kernel object, loaded from memory without leaving a file behind.
class HostModule final : public Module {
public:
  ~HostModule() override {
    Library = SharedLibrary();
    if (File >= 0)
      close(File);
  }
  Status load(const EngineApi &engine, std::span<const uint8_t> bytes);
  Status function(const plan::KernelT &kernel, void *&function) override;

private:
  SharedLibrary Library;
  // Open as long as the library is: the loader takes a library of the same
  // path for the same library, and the path holds this number.
  int File = -1;
};

class HostDevice final : public Device {
public:
  HostDevice() { Name = "host"; }
  Status open();

  bool isHost() const override { return true; }
  int64_t multiprocessors() const override {
    return std::max(1u, std::thread::hardware_concurrency());
  }
  uint32_t rank(const std::string &target) const override {
    return target == "host";
  }

  Status allocate(uint64_t bytes, std::string_view what,
                  void *&memory) override;
  void release(void *memory) override { free(memory); }

  // Everything is done when it returns: one stream, no events.
  Status createStream(Stream &stream) override {
    stream = nullptr;
    return Status();
  }
  void destroyStream(Stream) override {}
  Status synchronize(Stream) override { return Status(); }
  Status isCapturing(Stream, bool &capturing) override {
    capturing = false;
    return Status();
  }
  Status createEvent(Event &event) override;
  void destroyEvent(Event event) override;
  Status record(Event event, Stream) override;
  Status wait(Stream, Event) override { return Status(); }
  Status elapsed(Event from, Event to, double &microseconds) override;

  Status copy(void *to, const void *from, uint64_t bytes, Stream) override {
    if (bytes)
      memmove(to, from, bytes);
    return Status();
  }
  Status fill(void *to, uint32_t value, uint32_t width, uint64_t bytes,
              Stream) override;

  Status load(bundle::BinaryKind kind, const std::string &arch,
              std::span<const uint8_t> bytes,
              std::unique_ptr<Module> &module) override;
  Status launch(const KernelLaunch &launch, const LaunchMode &mode,
                Stream) override;
  Status encode(const TensorMapValues &values, uint8_t *out) override;

private:
  /// Opened when the first kernel object is loaded: a plan without kernels
  /// runs without it.
  Status openEngine();

  std::mutex Mutex;
  EngineApi Engine;
};

} // namespace

Status dlc::openHostDevice(std::shared_ptr<Device> &device) {
  static std::mutex mutex;
  static std::weak_ptr<Device> opened;
  std::lock_guard lock(mutex);
  if (!(device = opened.lock())) {
    device = std::make_shared<HostDevice>();
    opened = device;
  }
  return Status();
}

Status HostDevice::openEngine() {
  std::lock_guard lock(Mutex);
  if (Engine.library)
    return Status();
  constexpr const char *kName = "libdlc_host.so";
  std::string folder = runtimeFolder(), error;
  SharedLibrary library;
  bool isBeside =
      !folder.empty() && (library.open(folder + kName, error) ||
                          library.open(folder + "../lib/" + kName, error));
  if (!isBeside && !library.open(kName, error))
    return Status(DLC_NO_DEVICE,
                  say("no host device: ", kName, " is neither in \"", folder,
                      "\" nor in \"", folder,
                      "../lib\" nor where the loader looks: ", error));
  EngineApi api;
  if (!library.find("dlc_host_launch", api.launch) ||
      !library.find("dlc_host_engine", api.engine) ||
      !library.find("dlc_host_encode_tiled", api.encodeTiled) ||
      !library.find("dlc_host_encode_im2col", api.encodeIm2col))
    return Status(DLC_NO_DEVICE, say("no host device: ", kName,
                                     " is of another version of dlc"));
  api.library = std::move(library);
  // Its threads may outlive the last session.
  Engine = std::move(api);
  return Status();
}

Status HostDevice::allocate(uint64_t bytes, std::string_view what,
                            void *&memory) {
  // Not a byte more than was asked for, so that memory checkers see overruns.
  if (bytes > uint64_t(INT64_MAX) ||
      posix_memalign(&memory, 256, bytes ? bytes : 1) != 0)
    return Status(DLC_OUT_OF_MEMORY, say("out of memory: cannot allocate ",
                                         bytes, " bytes for ", what));
  return Status();
}

Status HostDevice::fill(void *to, uint32_t value, uint32_t width,
                        uint64_t bytes, Stream) {
  uint8_t *out = static_cast<uint8_t *>(to);
  uint8_t pattern[4];
  memcpy(pattern, &value, 4);
  if (width == 1 && bytes)
    memset(out, pattern[0], bytes);
  else
    for (uint64_t i = 0; i < bytes; i++)
      out[i] = pattern[i % width];
  return Status();
}

// ---- time -------------------------------------------------------------------

using Clock = std::chrono::steady_clock;

Status HostDevice::createEvent(Event &event) {
  event = new Clock::time_point();
  return Status();
}

void HostDevice::destroyEvent(Event event) {
  delete static_cast<Clock::time_point *>(event);
}

Status HostDevice::record(Event event, Stream) {
  *static_cast<Clock::time_point *>(event) = Clock::now();
  return Status();
}

Status HostDevice::elapsed(Event from, Event to, double &microseconds) {
  microseconds = std::chrono::duration<double, std::micro>(
                     *static_cast<Clock::time_point *>(to) -
                     *static_cast<Clock::time_point *>(from))
                     .count();
  return Status();
}

// ---- kernels ----------------------------------------------------------------

Status HostModule::load(const EngineApi &engine,
                        std::span<const uint8_t> bytes) {
  File = memfd_create("dlc-kernels", MFD_CLOEXEC);
  if (File < 0)
    return Status(DLC_DEVICE_ERROR, say("cannot make a file in memory for the "
                                        "kernels: ",
                                        strerror(errno)));
  while (!bytes.empty()) {
    ssize_t written = write(File, bytes.data(), bytes.size());
    if (written <= 0)
      return Status(
          DLC_OUT_OF_MEMORY,
          say("cannot write the kernels into memory: ", strerror(errno)));
    bytes = bytes.subspan(size_t(written));
  }
  std::string error;
  if (!Library.open(say("/proc/self/fd/", File), error))
    return Status(DLC_BAD_BUNDLE,
                  say("cannot load the kernels for the host: ", error));
  void (*bind)(const dlc_host_engine_table *) = nullptr;
  if (!Library.find("dlc_host_bind", bind))
    return Status(DLC_BAD_BUNDLE,
                  "the kernels for the host do not export dlc_host_bind");
  bind(engine.engine());
  return Status();
}

Status HostModule::function(const plan::KernelT &kernel, void *&function) {
  function = Library.find(kernel.name.c_str());
  if (!function)
    return Status(DLC_BAD_BUNDLE,
                  say("kernel \"", kernel.name, "\" is not in its binary"));
  return Status();
}

Status HostDevice::load(bundle::BinaryKind kind, const std::string &arch,
                        std::span<const uint8_t> bytes,
                        std::unique_ptr<Module> &module) {
  if (kind != bundle::BinaryKind::HostObject)
    return Status(DLC_BAD_BUNDLE,
                  "the variant holds GPU code, expected code for the host");
  if (arch != kMachine)
    return Status(DLC_UNSUPPORTED, say("the host code is for ", arch,
                                       ", this machine is ", kMachine));
  DLC_RETURN_IF_FAILED(openEngine());
  auto loaded = std::make_unique<HostModule>();
  DLC_RETURN_IF_FAILED(loaded->load(Engine, bytes));
  module = std::move(loaded);
  return Status();
}

Status HostDevice::launch(const KernelLaunch &launch, const LaunchMode &mode,
                          Stream) {
  std::vector<dlc_host_buffer> buffers;
  if (mode.seed)
    for (const KernelBuffer &buffer : launch.buffers)
      buffers.push_back({buffer.base, buffer.bytes, buffer.writable, 0});
  dlc_host_launch_config config = {};
  config.struct_bytes = sizeof config;
  std::copy_n(launch.grid, 3, config.grid);
  config.block[0] = launch.kernel->threads;
  config.block[1] = config.block[2] = 1;
  config.cluster = launch.kernel->cluster;
  config.smem_bytes = launch.kernel->smem_bytes;
  config.workers = mode.workers;
  config.seed = mode.seed;
  config.buffers = buffers.data();
  config.buffer_count = uint32_t(buffers.size());
  char error[1024] = "";
  if (Engine.launch(reinterpret_cast<dlc_host_entry>(launch.function),
                    launch.parameters, &config, error, sizeof error) != 0)
    return Status(DLC_KERNEL_ERROR,
                  say("kernel \"", launch.kernel->name, "\": ", error));
  return Status();
}

Status HostDevice::encode(const TensorMapValues &values, uint8_t *out) {
  const plan::TensorMapT &map = *values.map;
  uint32_t elementBytes = plan::elementBits(map.type) / 8;
  uint32_t rank = uint32_t(map.dims.size());
  uint32_t swizzle =
      map.swizzle == plan::MapSwizzle::None ? 0 : 16u << int(map.swizzle);
  int code = 1;
  if (map.kind == plan::MapKind::Tiled)
    code = Engine.encodeTiled(out, values.base, elementBytes, rank, values.dims,
                              values.strides, map.box.data(), swizzle);
  else if (rank == 4)
    code = Engine.encodeIm2col(
        out, values.base, elementBytes, values.dims, values.strides,
        map.lower_corner.data(), map.upper_corner.data(), map.channels,
        map.pixels, map.element_strides.data() + 1, swizzle);
  if (code != 0)
    return Status(DLC_DEVICE_ERROR,
                  "the host engine does not take this tensor map");
  return Status();
}
