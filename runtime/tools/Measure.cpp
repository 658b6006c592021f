// SPDX-License-Identifier: Apache-2.0
// dlc-run --bench and --profile.
#include "runtime/tools/Measure.h"

#include "runtime/tools/Counted.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace dlc;
using namespace dlc::tools;

using Clock = std::chrono::steady_clock;

static double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

/// The value below which a share of the sorted times lie.
static double percentile(const std::vector<double> &sorted, double share) {
  size_t index = size_t(share * double(sorted.size() - 1) + 0.5);
  return sorted[index];
}

namespace {

/// Memory of the session's device.
class DeviceBuffer {
public:
  DeviceBuffer(Session &session, uint64_t bytes) : Owner(session) {
    check(dlc_session_allocate(session.handle(), bytes, &Memory));
  }
  DeviceBuffer(const DeviceBuffer &) = delete;
  ~DeviceBuffer() { dlc_session_release(Owner.handle(), Memory); }
  void *data() const { return Memory; }

private:
  Session &Owner;
  void *Memory = nullptr;
};

} // namespace

static void printTransfers(const char *direction, uint64_t bytes, double ms) {
  printf("  %-15s %.4f ms for %.3f MB (%.1f GB/s)\n", direction, ms,
         double(bytes) / 1e6, ms > 0 ? double(bytes) / 1e6 / ms : 0);
}

void dlc::tools::bench(Session &session, std::map<std::string, Array> &inputs,
                       const RunOptions &options) {
  // Once with everything in ordinary memory, for the shapes of the outputs.
  session.run();
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  uint64_t inBytes = 0, outBytes = 0;
  double inTime = 0, outTime = 0;
  for (auto &[name, array] : inputs) {
    dlc_tensor tensor = array.view();
    buffers.push_back(std::make_unique<DeviceBuffer>(session, tensor.bytes));
    tensor.data = buffers.back()->data();
    tensor.memory = DLC_MEMORY_DEVICE;
    check(dlc_session_copy_from_host(session.handle(), &tensor,
                                     array.bytes.data()));
    auto start = Clock::now();
    check(dlc_session_copy_from_host(session.handle(), &tensor,
                                     array.bytes.data()));
    inTime += milliseconds(start);
    inBytes += tensor.bytes;
    session.bindInput(name, tensor);
  }

  auto start = Clock::now();
  do
    session.run();
  while (milliseconds(start) < options.warmup * 1e3);

  std::vector<double> times;
  auto begin = Clock::now();
  while (options.iterations ? times.size() < size_t(options.iterations)
                            : times.size() < 10 || milliseconds(begin) <
                                                       options.duration * 1e3) {
    start = Clock::now();
    session.run();
    times.push_back(milliseconds(start));
  }
  // One behind the other: what a stream of requests gets.
  size_t queued = std::clamp<size_t>(times.size() / 2, 1, 1000);
  begin = Clock::now();
  for (size_t i = 0; i < queued; i++)
    session.runOn(nullptr);
  session.wait();
  double each = milliseconds(begin) / double(queued);

  for (const dlc_port &port : session.outputs()) {
    dlc_tensor tensor = session.output(port.name);
    std::vector<uint8_t> bytes(tensor.bytes);
    start = Clock::now();
    check(dlc_session_copy_to_host(session.handle(), bytes.data(), &tensor));
    outTime += milliseconds(start);
    outBytes += tensor.bytes;
  }
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (double time : times)
    sum += time;
  printf("bench: %s on %s\n", counted(times.size(), "run").c_str(),
         session.deviceName().c_str());
  printf("  latency         median %.4f ms, p90 %.4f ms, p99 %.4f ms, min %.4f "
         "ms, mean %.4f ms\n",
         percentile(times, 0.5), percentile(times, 0.9),
         percentile(times, 0.99), times[0], sum / double(times.size()));
  printf("  back to back    %.4f ms per run, %.1f runs/s", each, 1e3 / each);
  int64_t batch = inputs.empty() || inputs.begin()->second.dims.empty()
                      ? 1
                      : inputs.begin()->second.dims[0];
  if (batch > 1)
    printf(" (%.1f items/s at batch %lld)", 1e3 / each * double(batch),
           static_cast<long long>(batch));
  printf("\n");
  printTransfers("inputs to it", inBytes, inTime);
  printTransfers("outputs from it", outBytes, outTime);
  // The device's copies go away with this function.
  for (auto &[name, array] : inputs)
    session.bindInput(name, array.view());
}

// ---- profile ----------------------------------------------------------------

namespace {

struct ProfiledStep {
  std::string name, nodes, grid;
  std::vector<double> microseconds;
};

struct Profile {
  std::vector<ProfiledStep> steps;
  size_t at = 0; ///< in the present run
};

} // namespace

static void noteStep(void *user, const dlc_step *step) {
  Profile &profile = *static_cast<Profile *>(user);
  if (profile.at == profile.steps.size()) {
    char grid[96] = "";
    if (step->threads)
      snprintf(grid, sizeof grid, "%ux%ux%u of %u", step->grid[0],
               step->grid[1], step->grid[2], step->threads);
    profile.steps.push_back({step->name, step->nodes, grid, {}});
  }
  profile.steps[profile.at++].microseconds.push_back(step->microseconds);
}

void dlc::tools::profile(Session &session, const RunOptions &options) {
  Profile profile;
  check(dlc_session_set_profiler(session.handle(), noteStep, &profile));
  int runs = options.iterations ? options.iterations : 10;
  auto begin = Clock::now();
  int done = 0;
  // Slow devices take fewer.
  for (; done < runs && (done < 2 || milliseconds(begin) < 2e4); done++) {
    profile.at = 0;
    session.run();
  }
  check(dlc_session_set_profiler(session.handle(), nullptr, nullptr));
  double sum = 0;
  for (ProfiledStep &step : profile.steps) {
    std::sort(step.microseconds.begin(), step.microseconds.end());
    sum += percentile(step.microseconds, 0.5);
  }
  std::stable_sort(profile.steps.begin(), profile.steps.end(),
                   [](const ProfiledStep &a, const ProfiledStep &b) {
                     return percentile(a.microseconds, 0.5) >
                            percentile(b.microseconds, 0.5);
                   });
  printf("profile: %s, %.1f us in all, median of %s on %s\n",
         counted(profile.steps.size(), "step").c_str(), sum,
         counted(size_t(done), "run").c_str(), session.deviceName().c_str());
  printf("  %10s %6s  %-22s %s\n", "us", "share", "grid", "step: nodes");
  for (const ProfiledStep &step : profile.steps) {
    double time = percentile(step.microseconds, 0.5);
    printf("  %10.2f %5.1f%%  %-22s %s%s%s\n", time,
           sum > 0 ? time / sum * 100 : 0, step.grid.c_str(), step.name.c_str(),
           step.nodes.empty() ? "" : ": ", step.nodes.c_str());
  }
}
