// SPDX-License-Identifier: Apache-2.0
// What the runtime asks of a device: memory, copies, kernels. The host and a
// CUDA GPU implement it.
#pragma once

#include "runtime/Status.h"
#include "runtime/bundle/bundle_generated.h"
#include "runtime/plan/Plan.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dlc {

/// A CUstream; null on the host.
using Stream = void *;
/// A CUevent.
using Event = void *;
/// A CUgraphNode.
using GraphNode = void *;

/// A piece of memory that a kernel is given, for the host's bounds checks.
struct KernelBuffer {
  void *base;
  uint64_t bytes;
  bool writable;
};

/// One kernel launch, ready to go.
struct KernelLaunch {
  const plan::KernelT *kernel = nullptr;
  void *function = nullptr; ///< from Module::function
  uint32_t grid[3] = {1, 1, 1};
  const uint8_t *parameters = nullptr; ///< aligned to 64
  std::span<const KernelBuffer> buffers;
  /// May start before the kernel in front of it has ended.
  bool overlaps = false;
};

/// How a session wants its kernels run. Only the host looks at it.
struct LaunchMode {
  uint32_t workers = 0;
  uint64_t seed = 0;
};

/// A loaded binary.
class Module {
public:
  virtual ~Module() = default;
  /// The kernel's entry point, ready for its shared memory and cluster size.
  virtual Status function(const plan::KernelT &kernel, void *&function) = 0;
};

/// A graph of recorded steps that can be replayed.
class Graph {
public:
  virtual ~Graph() = default;
  virtual Status launch(Stream stream) = 0;
  /// Gives a kernel node new parameters. The grid may change too.
  virtual Status update(GraphNode node, const KernelLaunch &launch) = 0;
};

/// A tensor map with its expressions evaluated.
struct TensorMapValues {
  const plan::TensorMapT *map = nullptr;
  void *base = nullptr;
  uint64_t dims[5] = {};
  uint64_t strides[4] = {}; ///< bytes, of dimensions 1 and up
};

class Device {
public:
  virtual ~Device() = default;

  /// "NVIDIA H200 (sm_90), driver for CUDA 13.0" or "host".
  const std::string &name() const { return Name; }
  /// On the host, device memory is ordinary memory.
  virtual bool isHost() const = 0;
  virtual int64_t multiprocessors() const = 0;
  /// How well a variant for this target runs here: 0 not at all, more is
  /// better.
  virtual uint32_t rank(const std::string &target) const = 0;
  /// Whether the driver is new enough for the variant; there may be none.
  virtual Status supports(const bundle::VariantT &) const { return Status(); }

  /// Aligned to 256 bytes.
  virtual Status allocate(uint64_t bytes, std::string_view what,
                          void *&memory) = 0;
  virtual void release(void *memory) = 0;

  virtual Status createStream(Stream &stream) = 0;
  virtual void destroyStream(Stream stream) = 0;
  virtual Status synchronize(Stream stream) = 0;
  /// Whether the caller is capturing this stream into a graph of his own.
  virtual Status isCapturing(Stream stream, bool &capturing) = 0;
  virtual Status createEvent(Event &event) = 0;
  virtual void destroyEvent(Event event) = 0;
  virtual Status record(Event event, Stream stream) = 0;
  virtual Status wait(Stream stream, Event event) = 0;
  /// Microseconds between two recorded events, once both have passed.
  virtual Status elapsed(Event from, Event to, double &microseconds) = 0;

  // Copies are in stream order; those that touch host memory may return
  // before their end only where that memory is the caller's to keep. Where the
  // host's memory is the device's own, they are all one.
  virtual Status copyIn(void *to, const void *from, uint64_t bytes,
                        Stream stream) {
    return copy(to, from, bytes, stream);
  }
  virtual Status copyOut(void *to, const void *from, uint64_t bytes,
                         Stream stream) {
    return copy(to, from, bytes, stream);
  }
  virtual Status copy(void *to, const void *from, uint64_t bytes,
                      Stream stream) = 0;
  /// Repeats the low `width` bytes (1, 2 or 4) of value.
  virtual Status fill(void *to, uint32_t value, uint32_t width, uint64_t bytes,
                      Stream stream) = 0;

  virtual Status load(bundle::BinaryKind kind, const std::string &arch,
                      std::span<const uint8_t> bytes,
                      std::unique_ptr<Module> &module) = 0;
  virtual Status launch(const KernelLaunch &launch, const LaunchMode &mode,
                        Stream stream) = 0;
  /// Writes the 128 bytes that the kernel is given.
  virtual Status encode(const TensorMapValues &values, uint8_t *out) = 0;

  // Recording. Where it is not supported, nothing below is called.
  virtual bool hasGraphs() const { return false; }
  virtual Status beginCapture(Stream) { return noGraphs(); }
  /// The node of the step recorded last on the stream.
  virtual Status lastNode(Stream, GraphNode &) { return noGraphs(); }
  virtual Status endCapture(Stream, std::unique_ptr<Graph> &) {
    return noGraphs();
  }
  /// Leaves a capture that failed.
  virtual void abandonCapture(Stream) {}

protected:
  std::string Name;

private:
  Status noGraphs() const {
    return Status(DLC_INTERNAL, say("\"", Name, "\" records no graphs"));
  }
};

/// The host device; opens the engine at the first call.
Status openHostDevice(std::shared_ptr<Device> &device);

/// A GPU by its number; opens the driver at the first call.
Status openCudaDevice(int index, std::shared_ptr<Device> &device);

/// Memory of a device that is released with this object.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  DeviceMemory(DeviceMemory &&other) noexcept { *this = std::move(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    std::swap(Owner, other.Owner);
    std::swap(Data, other.Data);
    std::swap(Bytes, other.Bytes);
    return *this;
  }
  ~DeviceMemory() { reset(); }

  bool holds(uint64_t bytes) const { return Data && Bytes >= bytes; }
  /// At least this much, keeping what there is when it is enough.
  Status reserve(Device &device, uint64_t bytes, std::string_view what) {
    if (holds(bytes))
      return Status();
    reset();
    DLC_RETURN_IF_FAILED(device.allocate(bytes, what, Data));
    Owner = &device;
    Bytes = bytes;
    return Status();
  }
  void reset() {
    if (Data)
      Owner->release(Data);
    Owner = nullptr;
    Data = nullptr;
    Bytes = 0;
  }
  uint8_t *data() const { return static_cast<uint8_t *>(Data); }
  uint64_t bytes() const { return Bytes; }

private:
  Device *Owner = nullptr;
  void *Data = nullptr;
  uint64_t Bytes = 0;
};

} // namespace dlc
