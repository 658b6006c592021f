// SPDX-License-Identifier: Apache-2.0
// A session: bindings, memory and runs of one user of a bundle.
#pragma once

#include "runtime/Program.h"
#include "runtime/Replay.h"
#include "runtime/StepRunner.h"

#include <map>
#include <optional>

namespace dlc {

struct SessionOptions {
  std::string target;    ///< "": the best for the device
  std::string precision; ///< "": that of the first fitting variant
  int32_t variant = -1;  ///< -1: chosen by the shapes
  LaunchMode mode;
  bool graphs = true;
  dlc_log_callback log = nullptr;
  void *logUser = nullptr;
};

class Session {
public:
  static Status create(std::shared_ptr<DeviceBundle> bundle,
                       const SessionOptions &options,
                       std::unique_ptr<Session> &session);
  ~Session();

  const std::string &deviceName() const { return device().name(); }
  const std::vector<dlc_port> &inputs() const { return InputPorts; }
  const std::vector<dlc_port> &outputs() const { return OutputPorts; }

  Status bindInput(size_t index, const dlc_tensor &tensor);
  Status bindOutput(size_t index, const dlc_tensor *tensor);
  void setAllocator(dlc_allocate_callback callback, void *user) {
    Allocate = callback;
    AllocateUser = user;
  }
  void setProfiler(dlc_profiler_callback callback, void *user) {
    Profiler = callback;
    ProfilerUser = user;
  }
  Status arenaBytes(uint64_t &bytes);
  Status bindArena(void *memory, uint64_t bytes);
  Status variant(size_t &variant);

  /// \param stream the caller's; nothing: the session's own, and wait.
  Status run(std::optional<Stream> stream);
  /// The session's own.
  Stream stream() const { return OwnStream; }
  Status wait();
  Status output(size_t index, dlc_tensor &tensor);
  Status copyToHost(void *to, const dlc_tensor &from);
  Status copyFromHost(const dlc_tensor &to, const void *from);
  Status allocate(uint64_t bytes, void *&memory) {
    return device().allocate(bytes, "the caller", memory);
  }
  void release(void *memory) { device().release(memory); }
  void resetState();

private:
  /// A set of input shapes that was seen: everything that follows from it.
  struct Prepared {
    const Program *program = nullptr;
    Layout layout;
    // They refer to the layout, which therefore stays where it is.
    std::unique_ptr<BufferTable> table;
    std::unique_ptr<StepRunner> runner;
    Replay replay;
    uint64_t lastUse = 0;
    bool hasRun = false; ///< outside of a capture and as it will run there
  };
  struct Input {
    std::optional<dlc_tensor> tensor;
    DeviceMemory staging; ///< where the caller's memory cannot be used itself
  };
  struct Output {
    std::optional<dlc_tensor> bound;
    DeviceMemory own;
    dlc_tensor result = {}; ///< of the last run
    bool isValid = false;
  };
  struct StateMemory {
    DeviceMemory memory;
    bool isInitialised = false;
  };

  explicit Session(std::shared_ptr<DeviceBundle> bundle) : Owner(bundle) {}
  Device &device() const { return Owner->device(); }
  Status chooseVariants();
  Status describePorts();
  Status boundShapes(std::vector<Dims> &dims) const;
  Status prepare(Prepared *&prepared);
  Status chooseVariant(const std::vector<Dims> &dims, Prepared &prepared);
  Status tryVariant(size_t variant, const std::vector<Dims> &dims,
                    Prepared &prepared);

  Status checkCapture() const;
  // These find memory for everything and leave the stream alone.
  Status setBases(Prepared &prepared);
  Status setInput(Prepared &prepared, size_t index);
  Status setOutput(Prepared &prepared, size_t index);
  Status setStates(Prepared &prepared);
  Status reserve(DeviceMemory &memory, uint64_t bytes, std::string_view what);
  // And these write what the steps begin with.
  Status fillBases(Prepared &prepared, Stream stream);
  Status poison(Prepared &prepared, Stream stream);
  Status fillInput(Prepared &prepared, size_t index, Stream stream);
  Status fillStates(Prepared &prepared, Stream stream);
  Status finishOutput(Prepared &prepared, size_t index, Stream stream);
  Status trueShape(Prepared &prepared, size_t index, Stream stream, Dims &dims);
  std::string outputName(size_t index) const {
    return say("output \"", OutputPorts[index].name, "\"");
  }
  void log(dlc_log_level level, const std::string &message) const;

  std::shared_ptr<DeviceBundle> Owner; // outlives all device memory below
  SessionOptions Options;
  std::vector<size_t> Variants; ///< that fit, the best first
  std::vector<dlc_port> InputPorts, OutputPorts;
  std::unique_ptr<StreamPool> Pool;
  Stream OwnStream = nullptr;
  Stream LastStream = nullptr;
  bool InFlight = false;
  bool Capturing = false; ///< the run's stream, by the caller

  std::vector<Input> Inputs;
  std::vector<Output> Outputs;
  std::map<std::vector<Dims>, std::unique_ptr<Prepared>> Shapes;
  Prepared *Current = nullptr; ///< that of the bound inputs, if known
  uint64_t Uses = 0;
  DeviceMemory Arena, Cells;
  uint8_t *CallerArena = nullptr;
  uint64_t CallerArenaBytes = 0;
  std::map<std::string, StateMemory> States;

  dlc_allocate_callback Allocate = nullptr;
  void *AllocateUser = nullptr;
  dlc_profiler_callback Profiler = nullptr;
  void *ProfilerUser = nullptr;
};

} // namespace dlc
