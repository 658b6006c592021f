// SPDX-License-Identifier: Apache-2.0
// A CUDA GPU, through the driver and in the primary context.
#include "runtime/device/CudaDevice.h"

#include "runtime/device/CudaGraph.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

using namespace dlc;

namespace {

class CudaModule final : public Module {
public:
  CudaModule(const cuda::Driver &driver, cuda::Context context,
             cuda::ModuleHandle module)
      : Driver(driver), Context(context), Loaded(module) {}
  ~CudaModule() override {
    CudaContextScope scope(Driver, Context);
    if (scope.isEntered())
      Driver.moduleUnload(Loaded);
  }
  Status function(const plan::KernelT &kernel, void *&function) override;

private:
  const cuda::Driver &Driver;
  cuda::Context Context;
  cuda::ModuleHandle Loaded;
};

class CudaDevice final : public Device,
                         public std::enable_shared_from_this<CudaDevice> {
public:
  CudaDevice(const cuda::Driver &driver) : Driver(driver) {}
  ~CudaDevice() override;
  Status open(int index);

  bool isHost() const override { return false; }
  int64_t multiprocessors() const override { return Multiprocessors; }
  uint32_t rank(const std::string &target) const override;
  Status supports(const bundle::VariantT &variant) const override;

  Status allocate(uint64_t bytes, std::string_view what,
                  void *&memory) override;
  void release(void *memory) override;

  Status createStream(Stream &stream) override;
  void destroyStream(Stream stream) override;
  Status synchronize(Stream stream) override;
  Status isCapturing(Stream stream, bool &capturing) override;
  Status createEvent(Event &event) override;
  void destroyEvent(Event event) override;
  Status record(Event event, Stream stream) override;
  Status wait(Stream stream, Event event) override;
  Status elapsed(Event from, Event to, double &microseconds) override;

  Status copyIn(void *to, const void *from, uint64_t bytes,
                Stream stream) override;
  Status copyOut(void *to, const void *from, uint64_t bytes,
                 Stream stream) override;
  Status copy(void *to, const void *from, uint64_t bytes,
              Stream stream) override;
  Status fill(void *to, uint32_t value, uint32_t width, uint64_t bytes,
              Stream stream) override;

  Status load(bundle::BinaryKind kind, const std::string &arch,
              std::span<const uint8_t> bytes,
              std::unique_ptr<Module> &module) override;
  Status launch(const KernelLaunch &launch, const LaunchMode &mode,
                Stream stream) override;
  Status encode(const TensorMapValues &values, uint8_t *out) override;

  bool hasGraphs() const override {
    return Driver.captureInfo2 || Driver.captureInfo3;
  }
  Status beginCapture(Stream stream) override;
  Status lastNode(Stream stream, GraphNode &node) override;
  Status endCapture(Stream stream, std::unique_ptr<Graph> &graph) override;
  void abandonCapture(Stream stream) override;

private:
  CudaContextScope enter() const { return {Driver, Context}; }
  static cuda::DevicePointer pointer(const void *p) {
    return reinterpret_cast<cuda::DevicePointer>(p);
  }

  const cuda::Driver &Driver;
  cuda::DeviceHandle Handle = 0;
  cuda::Context Context = nullptr;
  int Major = 0, Minor = 0, Multiprocessors = 0;
};

} // namespace

// ---- opening ----------------------------------------------------------------

Status dlc::openCudaDevice(int index, std::shared_ptr<Device> &device) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<Device>> opened;
  const cuda::Driver *driver = nullptr;
  DLC_RETURN_IF_FAILED(cuda::openDriver(driver));
  std::lock_guard lock(mutex);
  if ((device = opened[index].lock()))
    return Status();
  DLC_RETURN_IF_FAILED(openCudaDevice(*driver, index, device));
  opened[index] = device;
  return Status();
}

Status dlc::openCudaDevice(const cuda::Driver &driver, int index,
                           std::shared_ptr<Device> &device) {
  auto created = std::make_shared<CudaDevice>(driver);
  DLC_RETURN_IF_FAILED(created->open(index));
  device = created;
  return Status();
}

Status CudaDevice::open(int index) {
  int count = 0;
  DLC_RETURN_IF_FAILED(
      Driver.check(Driver.deviceGetCount(&count), "cuDeviceGetCount"));
  if (count == 0)
    return Status(DLC_NO_DEVICE,
                  "no GPU: the NVIDIA driver finds none in this machine");
  if (index < 0 || index >= count)
    return Status(DLC_NO_DEVICE, say("no GPU number ", index, ": there are ",
                                     count, ", counted from 0"));
  DLC_RETURN_IF_FAILED(
      Driver.check(Driver.deviceGet(&Handle, index), "cuDeviceGet"));
  char name[256] = "";
  DLC_RETURN_IF_FAILED(Driver.check(
      Driver.deviceGetName(name, sizeof name, Handle), "cuDeviceGetName"));
  for (auto [value, attribute] :
       {std::pair(&Major, cuda::kComputeMajor),
        std::pair(&Minor, cuda::kComputeMinor),
        std::pair(&Multiprocessors, cuda::kMultiprocessorCount)})
    DLC_RETURN_IF_FAILED(
        Driver.check(Driver.deviceGetAttribute(value, attribute, Handle),
                     "cuDeviceGetAttribute"));
  DLC_RETURN_IF_FAILED(Driver.check(Driver.primaryCtxRetain(&Context, Handle),
                                    "cuDevicePrimaryCtxRetain"));
  Name = say(name, " (sm_", Major, Minor, "), driver for CUDA ",
             cuda::versionText(Driver.version));
  return Status();
}

CudaDevice::~CudaDevice() {
  if (Context)
    Driver.primaryCtxRelease(Handle);
}

uint32_t CudaDevice::rank(const std::string &target) const {
  // Above all PTX; an exact build above one for an older GPU of the family.
  constexpr uint32_t kPortable = 1, kCubin = 1000;
  auto number = [](const std::string &text, size_t at, char *&end) {
    return strtol(text.c_str() + at, &end, 10);
  };
  char *end = nullptr;
  long self = Major * 10 + Minor;
  if (target == "portable")
    return self >= 75 ? kPortable : 0;
  if (target.rfind("compute_", 0) == 0) {
    long arch = number(target, 8, end);
    return *end == 0 && arch <= self ? kPortable + uint32_t(arch) : 0;
  }
  if (target.rfind("sm_", 0) != 0)
    return 0;
  long arch = number(target, 3, end);
  if (*end == 'a')
    return arch == self ? kCubin + 500 + uint32_t(arch) : 0;
  return *end == 0 && arch / 10 == Major && arch <= self
             ? kCubin + uint32_t(arch)
             : 0;
}

Status CudaDevice::supports(const bundle::VariantT &variant) const {
  if (variant.least_driver <= uint32_t(Driver.version))
    return Status();
  return Status(DLC_DRIVER_TOO_OLD,
                say("the NVIDIA driver is too old: it is for CUDA ",
                    cuda::versionText(Driver.version), ", the variant for ",
                    variant.target, " needs one for CUDA ",
                    cuda::versionText(int(variant.least_driver))));
}

// ---- memory -----------------------------------------------------------------

Status CudaDevice::allocate(uint64_t bytes, std::string_view what,
                            void *&memory) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  cuda::DevicePointer address = 0;
  cuda::Result result = Driver.memAlloc(&address, bytes ? bytes : 1);
  if (result == cuda::kOutOfMemory) {
    size_t free = 0, total = 0;
    Driver.memGetInfo(&free, &total);
    return Status(DLC_OUT_OF_MEMORY, say("out of GPU memory: cannot allocate ",
                                         bytes, " bytes for ", what, ", ", free,
                                         " of ", total, " bytes are free"));
  }
  memory = reinterpret_cast<void *>(address);
  return Driver.check(result, say("cuMemAlloc for ", what));
}

void CudaDevice::release(void *memory) {
  if (CudaContextScope scope = enter(); scope.isEntered())
    Driver.memFree(pointer(memory));
}

Status CudaDevice::copyIn(void *to, const void *from, uint64_t bytes,
                          Stream stream) {
  if (bytes == 0)
    return Status();
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(Driver.memcpyHtoD(pointer(to), from, bytes, stream),
                      "cuMemcpyHtoDAsync");
}

Status CudaDevice::copyOut(void *to, const void *from, uint64_t bytes,
                           Stream stream) {
  if (bytes == 0)
    return Status();
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(Driver.memcpyDtoH(to, pointer(from), bytes, stream),
                      "cuMemcpyDtoHAsync");
}

Status CudaDevice::copy(void *to, const void *from, uint64_t bytes,
                        Stream stream) {
  if (bytes == 0)
    return Status();
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(
      Driver.memcpyDtoD(pointer(to), pointer(from), bytes, stream),
      "cuMemcpyDtoDAsync");
}

Status CudaDevice::fill(void *to, uint32_t value, uint32_t width,
                        uint64_t bytes, Stream stream) {
  if (bytes == 0)
    return Status();
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  uint64_t address = pointer(to);
  if (width == 4 && address % 4 == 0 && bytes % 4 == 0)
    return Driver.check(Driver.memsetD32(address, value, bytes / 4, stream),
                        "cuMemsetD32Async");
  if (width == 2 && address % 2 == 0 && bytes % 2 == 0)
    return Driver.check(Driver.memsetD16(address, static_cast<uint16_t>(value),
                                         bytes / 2, stream),
                        "cuMemsetD16Async");
  if (width != 1)
    return Status(DLC_BAD_BUNDLE,
                  say("a fill of ", bytes, " bytes at ", address,
                      " is not aligned to its width of ", width));
  return Driver.check(
      Driver.memsetD8(address, static_cast<uint8_t>(value), bytes, stream),
      "cuMemsetD8Async");
}

// ---- streams and events -----------------------------------------------------

Status CudaDevice::createStream(Stream &stream) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(Driver.streamCreate(&stream, cuda::kStreamNonBlocking),
                      "cuStreamCreate");
}

void CudaDevice::destroyStream(Stream stream) {
  if (CudaContextScope scope = enter(); scope.isEntered())
    Driver.streamDestroy(stream);
}

Status CudaDevice::synchronize(Stream stream) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(Driver.streamSynchronize(stream),
                      "waiting for the GPU (cuStreamSynchronize)");
}

Status CudaDevice::isCapturing(Stream stream, bool &capturing) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  int status = cuda::kCaptureNone;
  DLC_RETURN_IF_FAILED(Driver.check(Driver.streamIsCapturing(stream, &status),
                                    "cuStreamIsCapturing"));
  capturing = status != cuda::kCaptureNone;
  return Status();
}

Status CudaDevice::createEvent(Event &event) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(Driver.eventCreate(&event, cuda::kEventDefault),
                      "cuEventCreate");
}

void CudaDevice::destroyEvent(Event event) {
  if (CudaContextScope scope = enter(); scope.isEntered())
    Driver.eventDestroy(event);
}

Status CudaDevice::record(Event event, Stream stream) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(Driver.eventRecord(event, stream), "cuEventRecord");
}

Status CudaDevice::wait(Stream stream, Event event) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(Driver.streamWaitEvent(stream, event, 0),
                      "cuStreamWaitEvent");
}

Status CudaDevice::elapsed(Event from, Event to, double &microseconds) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  float milliseconds = 0;
  DLC_RETURN_IF_FAILED(Driver.check(
      Driver.eventElapsedTime(&milliseconds, from, to), "cuEventElapsedTime"));
  microseconds = double(milliseconds) * 1e3;
  return Status();
}

// ---- kernels ----------------------------------------------------------------

Status CudaDevice::load(bundle::BinaryKind kind, const std::string &arch,
                        std::span<const uint8_t> bytes,
                        std::unique_ptr<Module> &module) {
  if (kind == bundle::BinaryKind::HostObject)
    return Status(DLC_BAD_BUNDLE,
                  "the variant holds code for the host, expected GPU code");
  // PTX is text and must end in a zero, which the bundle does not store.
  std::string text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  char log[4096] = "";
  int options[] = {cuda::kJitErrorLog, cuda::kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  cuda::ModuleHandle handle = nullptr;
  cuda::Result result =
      Driver.moduleLoadData(&handle, text.c_str(), 2, options, values);
  if (result == cuda::kUnsupportedPtxVersion)
    return Status(DLC_DRIVER_TOO_OLD,
                  say("the NVIDIA driver is too old: it is for CUDA ",
                      cuda::versionText(Driver.version),
                      " and does not know the PTX of this bundle"));
  if (result == cuda::kNoBinaryForGpu)
    return Status(DLC_UNSUPPORTED, say("the kernels are for ", arch,
                                       ", the GPU is sm_", Major, Minor));
  if (Status status = Driver.check(result, "cuModuleLoadDataEx"); !status.ok())
    return Status(status.code(), say(status.sentence(), *log ? ": " : "", log));
  module = std::make_unique<CudaModule>(Driver, Context, handle);
  return Status();
}

Status CudaModule::function(const plan::KernelT &kernel, void *&function) {
  CudaContextScope scope(Driver, Context);
  DLC_RETURN_IF_FAILED(scope.status());
  std::string what = say(" for kernel \"", kernel.name, "\"");
  DLC_RETURN_IF_FAILED(Driver.check(
      Driver.moduleGetFunction(&function, Loaded, kernel.name.c_str()),
      "cuModuleGetFunction" + what));
  // Up to 48 KB and clusters of 8 blocks come without asking.
  if (kernel.smem_bytes > 48 * 1024)
    DLC_RETURN_IF_FAILED(Driver.check(
        Driver.funcSetAttribute(function, cuda::kMaxDynamicSharedBytes,
                                int(kernel.smem_bytes)),
        say("cuFuncSetAttribute(", kernel.smem_bytes,
            " bytes of shared memory)", what)));
  if (kernel.cluster > 8)
    DLC_RETURN_IF_FAILED(Driver.check(
        Driver.funcSetAttribute(function, cuda::kNonPortableClusterAllowed, 1),
        say("cuFuncSetAttribute(clusters of ", kernel.cluster, ")", what)));
  return Status();
}

Status CudaDevice::launch(const KernelLaunch &launch, const LaunchMode &,
                          Stream stream) {
  const plan::KernelT &kernel = *launch.kernel;
  cuda::LaunchAttribute attributes[3] = {};
  cuda::LaunchConfig config = {};
  config.gridX = launch.grid[0];
  config.gridY = launch.grid[1];
  config.gridZ = launch.grid[2];
  config.blockX = kernel.threads;
  config.blockY = config.blockZ = 1;
  config.sharedBytes = kernel.smem_bytes;
  config.stream = stream;
  config.attributes = attributes;
  if (kernel.cluster > 1) {
    cuda::LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = cuda::kClusterDimension;
    attribute.value.clusterDim = {kernel.cluster, 1, 1};
  }
  if (launch.overlaps && Major >= 9) {
    cuda::LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = cuda::kProgrammaticSerialization;
    attribute.value.flag = 1;
  }
  if (kernel.cooperative) {
    cuda::LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = cuda::kCooperative;
    attribute.value.flag = 1;
  }
  void *parameters[] = {const_cast<uint8_t *>(launch.parameters)};
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(
      Driver.launchKernel(&config, launch.function, parameters, nullptr),
      say("cuLaunchKernelEx for kernel \"", kernel.name, "\""));
}

/// CUtensorMapDataType.
static int mapType(plan::ElementType type) {
  switch (type) {
  case plan::ElementType::U16:
  case plan::ElementType::I16:
    return 1;
  case plan::ElementType::U32:
    return 2;
  case plan::ElementType::I32:
    return 3;
  case plan::ElementType::U64:
    return 4;
  case plan::ElementType::I64:
    return 5;
  case plan::ElementType::F16:
    return 6;
  case plan::ElementType::F32:
    return 7;
  case plan::ElementType::F64:
    return 8;
  case plan::ElementType::BF16:
    return 9;
  default:
    return 0; // bytes
  }
}

Status CudaDevice::encode(const TensorMapValues &values, uint8_t *out) {
  const plan::TensorMapT &map = *values.map;
  auto *result = reinterpret_cast<cuda::TensorMap *>(out);
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  uint32_t rank = uint32_t(map.dims.size());
  if (map.kind == plan::MapKind::Tiled)
    return Driver.check(Driver.tensorMapEncodeTiled(
                            result, mapType(map.type), rank, values.base,
                            values.dims, values.strides, map.box.data(),
                            map.element_strides.data(), int(map.interleave),
                            int(map.swizzle), int(map.promotion), map.fill_nan),
                        "cuTensorMapEncodeTiled");
  return Driver.check(Driver.tensorMapEncodeIm2col(
                          result, mapType(map.type), rank, values.base,
                          values.dims, values.strides, map.lower_corner.data(),
                          map.upper_corner.data(), map.channels, map.pixels,
                          map.element_strides.data(), int(map.interleave),
                          int(map.swizzle), int(map.promotion), map.fill_nan),
                      "cuTensorMapEncodeIm2col");
}

// ---- recording --------------------------------------------------------------

Status CudaDevice::beginCapture(Stream stream) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  return Driver.check(
      Driver.streamBeginCapture(stream, cuda::kCaptureThreadLocal),
      "cuStreamBeginCapture");
}

Status CudaDevice::lastNode(Stream stream, GraphNode &node) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  int status = 0;
  const cuda::Node *nodes = nullptr;
  const void *edges = nullptr;
  size_t count = 0;
  // Version 2 fails on edges that carry data, so prefer 3 where there is one.
  cuda::Result result =
      Driver.captureInfo3 ? Driver.captureInfo3(stream, &status, nullptr,
                                                nullptr, &nodes, &edges, &count)
                          : Driver.captureInfo2(stream, &status, nullptr,
                                                nullptr, &nodes, &count);
  DLC_RETURN_IF_FAILED(Driver.check(result, "cuStreamGetCaptureInfo"));
  node = count == 1 ? nodes[0] : nullptr;
  return Status();
}

Status CudaDevice::endCapture(Stream stream, std::unique_ptr<Graph> &graph) {
  CudaContextScope scope = enter();
  DLC_RETURN_IF_FAILED(scope.status());
  cuda::GraphHandle handle = nullptr;
  DLC_RETURN_IF_FAILED(Driver.check(Driver.streamEndCapture(stream, &handle),
                                    "cuStreamEndCapture"));
  auto recorded =
      std::make_unique<CudaGraph>(shared_from_this(), Driver, Context, handle);
  DLC_RETURN_IF_FAILED(recorded->instantiate());
  graph = std::move(recorded);
  return Status();
}

void CudaDevice::abandonCapture(Stream stream) {
  CudaContextScope scope = enter();
  cuda::GraphHandle handle = nullptr;
  if (scope.isEntered() &&
      Driver.streamEndCapture(stream, &handle) == cuda::kSuccess && handle)
    Driver.graphDestroy(handle);
}
