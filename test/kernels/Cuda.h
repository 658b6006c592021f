// SPDX-License-Identifier: Apache-2.0
// The same tests on a GPU: cubins that nvrtc_check wrote, run through the
// driver, which is opened at run time. Buffers lie between guards.
#pragma once
#include "runtime/host/Engine.h"
#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace test {
/// A tensor map over buffer number `buffer` of a launch, innermost dimension
/// first, of elements of 16 bits, swizzled by 128 bytes.
struct MapOver {
  uint32_t buffer;
  int type; ///< of CUtensorMapDataType: 6 half, 9 bfloat16
  uint32_t rank;
  uint64_t dims[4], strides[3];
  uint32_t box[4]; ///< im2col: channels, pixels
  bool im2col = false;
  int32_t lower[2] = {}, upper[2] = {};
  uint32_t step[2] = {1, 1};
};

class Cuda {
public:
  using Function = void *;
  struct Attribute { // CUlaunchAttribute
    int id, pad;
    union {
      uint32_t cluster[3];
      int programmatic;
      char bytes[64];
    } value;
  };
  struct Config { // CUlaunchConfig
    uint32_t grid[3], block[3], shared;
    void *stream;
    Attribute *attributes;
    uint32_t count;
  };
  static Cuda &get() {
    static Cuda c;
    return c;
  }
  /// Null when it cannot be loaded.
  void *load(const std::string &path) {
    if (!ready)
      return nullptr;
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    const std::string bytes = text.str();
    void *m = nullptr;
    return bytes.empty() || moduleLoadData(&m, bytes.data()) ? nullptr : m;
  }
  Function function(void *module, const std::string &name) {
    Function f = nullptr;
    return moduleGetFunction(&f, module, name.c_str()) ? nullptr : f;
  }
  uint64_t allocate(size_t bytes) {
    uint64_t p = 0;
    return memAlloc(&p, bytes) ? 0 : p;
  }
  std::string launch(Function f, uint32_t grid, uint32_t threads,
                     uint32_t shared, uint32_t cluster, void *params,
                     bool overlapped = false, void *stream = nullptr) {
    Attribute attributes[2] = {};
    uint32_t count = 0;
    if (cluster > 1) {
      attributes[count].id = 4;
      attributes[count].value.cluster[0] = cluster;
      attributes[count].value.cluster[1] = 1;
      attributes[count++].value.cluster[2] = 1;
    }
    if (overlapped) {
      attributes[count].id = 6;
      attributes[count++].value.programmatic = 1;
    }
    Config c{{grid, 1, 1}, {threads, 1, 1}, shared, stream, attributes, count};
    void *list[] = {params};
    return error(launchKernel(&c, f, list, nullptr), "launch");
  }
  std::string error(int code, const char *what) {
    if (!code)
      return {};
    const char *name = nullptr;
    errorName(code, &name);
    return std::string(what) + ": " + (name ? name : std::to_string(code));
  }

  /// Microseconds of one of `count` launches in a graph, the best of three
  /// replays; negative when something fails.
  template <class Launch> double replay(int count, Launch launchNumber) {
    void *stream, *graph, *executable, *begin, *end;
    bool good = !streamCreate(&stream, 0) && !streamBegin(stream, 1);
    for (int i = 0; i < count; i++)
      good &= launchNumber(i, stream).empty();
    good &= !streamEnd(stream, &graph) && good &&
            !graphInstantiate(&executable, graph, 0);
    float best = 1e9;
    eventCreate(&begin, 0);
    eventCreate(&end, 0);
    for (int round = 0; good && round < 4; round++) {
      float ms = 0;
      eventRecord(begin, stream);
      good &= !graphLaunch(executable, stream);
      eventRecord(end, stream);
      good &= !synchronize() && !eventElapsed(&ms, begin, end);
      if (round > 0)
        best = std::min(best, ms);
    }
    return good ? best * 1e3 / count : -1;
  }

  /// The driver's form of a tensor map (128 bytes).
  std::string encode(const MapOver &m, uint64_t base, void *to) {
    alignas(64) uint8_t made[128];
    void *address = reinterpret_cast<void *>(base);
    const uint32_t ones[4] = {1, 1, 1, 1};
    const uint32_t steps[4] = {1, m.step[0], m.step[1], 1};
    constexpr int swizzle128 = 3, promotion256 = 3;
    std::string e;
    if (m.im2col)
      e = error(encodeIm2col(made, m.type, 4, address, m.dims, m.strides,
                             m.lower, m.upper, m.box[0], m.box[1], steps, 0,
                             swizzle128, promotion256, 0),
                "im2col map");
    else
      e = error(encodeTiled(made, m.type, m.rank, address, m.dims, m.strides,
                            m.box, ones, 0, swizzle128, promotion256, 0),
                "tiled map");
    memcpy(to, made, sizeof made);
    return e;
  }

  /// Copies in, runs, copies out, checks the guards. Pointers to buffers in
  /// the parameters become the device's.
  std::string run(Function f, std::vector<uint8_t> params, uint32_t grid,
                  uint32_t threads, uint32_t shared, uint32_t cluster,
                  const std::vector<dlc_host_buffer> &buffers,
                  const std::vector<MapOver> &maps = {}) {
    constexpr size_t guard = 512;
    std::vector<uint64_t> device;
    std::string e;
    for (const dlc_host_buffer &b : buffers) {
      std::vector<uint8_t> bytes(b.bytes + 2 * guard, 0xEE);
      memcpy(bytes.data() + guard, b.base, b.bytes);
      device.push_back(allocate(bytes.size()));
      if (e.empty())
        e = error(copyIn(device.back(), bytes.data(), bytes.size()), "copy");
      for (size_t i = 0; i + 8 <= params.size(); i += 8) {
        uint64_t word;
        memcpy(&word, &params[i], 8);
        if (word != reinterpret_cast<uint64_t>(b.base))
          continue;
        word = device.back() + guard;
        memcpy(&params[i], &word, 8);
      }
    }
    for (size_t i = 0; e.empty() && i < maps.size(); i++)
      e = encode(maps[i], device[maps[i].buffer] + guard, &params[i * 128]);
    functionSetAttribute(f, 8, int(shared));
    if (e.empty())
      e = launch(f, grid, threads, shared, cluster, params.data());
    if (e.empty())
      e = error(synchronize(), "kernel");
    for (size_t i = 0; i < buffers.size(); i++) {
      const dlc_host_buffer &b = buffers[i];
      std::vector<uint8_t> bytes(b.bytes + 2 * guard);
      if (e.empty())
        e = error(copyOut(bytes.data(), device[i], bytes.size()), "copy");
      for (size_t k = 0; e.empty() && k < guard; k++)
        if (bytes[k] != 0xEE || bytes[guard + b.bytes + k] != 0xEE)
          e = "wrote outside buffer " + std::to_string(i);
      if (e.empty() && !b.writable &&
          memcmp(bytes.data() + guard, b.base, b.bytes))
        e = "wrote into buffer " + std::to_string(i);
      if (e.empty() && b.writable)
        memcpy(const_cast<void *>(b.base), bytes.data() + guard, b.bytes);
      memFree(device[i]);
    }
    return e;
  }

  int (*moduleLoadData)(void **, const void *);
  int (*moduleGetFunction)(void **, void *, const char *);
  int (*memAlloc)(uint64_t *, size_t);
  int (*memFree)(uint64_t);
  int (*copyIn)(uint64_t, const void *, size_t);
  int (*copyOut)(void *, uint64_t, size_t);
  int (*launchKernel)(const Config *, Function, void **, void **);
  int (*functionSetAttribute)(Function, int, int);
  int (*synchronize)();
  int (*errorName)(int, const char **);
  int (*encodeTiled)(void *, int, uint32_t, void *, const uint64_t *,
                     const uint64_t *, const uint32_t *, const uint32_t *, int,
                     int, int, int);
  int (*encodeIm2col)(void *, int, uint32_t, void *, const uint64_t *,
                      const uint64_t *, const int *, const int *, uint32_t,
                      uint32_t, const uint32_t *, int, int, int, int);
  int (*streamCreate)(void **, unsigned);
  int (*streamBegin)(void *, int);
  int (*streamEnd)(void *, void **);
  int (*graphInstantiate)(void **, void *, unsigned long long);
  int (*graphLaunch)(void *, void *);
  int (*eventCreate)(void **, unsigned);
  int (*eventRecord)(void *, void *);
  int (*eventElapsed)(float *, void *, void *);
  bool ready = false;

private:
  Cuda() {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib)
      return;
    auto find = [&](auto &f, const char *name) {
      f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(
          dlsym(lib, name));
      return f != nullptr;
    };
    int (*init)(unsigned), (*deviceGet)(int *, int);
    int (*retain)(void **, int), (*setCurrent)(void *);
    int device = 0;
    void *context = nullptr;
    ready = find(init, "cuInit") && find(deviceGet, "cuDeviceGet") &&
            find(retain, "cuDevicePrimaryCtxRetain") &&
            find(setCurrent, "cuCtxSetCurrent") &&
            find(moduleLoadData, "cuModuleLoadData") &&
            find(moduleGetFunction, "cuModuleGetFunction") &&
            find(memAlloc, "cuMemAlloc_v2") && find(memFree, "cuMemFree_v2") &&
            find(copyIn, "cuMemcpyHtoD_v2") &&
            find(copyOut, "cuMemcpyDtoH_v2") &&
            find(launchKernel, "cuLaunchKernelEx") &&
            find(functionSetAttribute, "cuFuncSetAttribute") &&
            find(synchronize, "cuCtxSynchronize") &&
            find(errorName, "cuGetErrorName") &&
            find(streamCreate, "cuStreamCreate") &&
            find(streamBegin, "cuStreamBeginCapture_v2") &&
            find(streamEnd, "cuStreamEndCapture") &&
            find(graphInstantiate, "cuGraphInstantiateWithFlags") &&
            find(graphLaunch, "cuGraphLaunch") &&
            find(encodeTiled, "cuTensorMapEncodeTiled") &&
            find(encodeIm2col, "cuTensorMapEncodeIm2col") &&
            find(eventCreate, "cuEventCreate") &&
            find(eventRecord, "cuEventRecord") &&
            find(eventElapsed, "cuEventElapsedTime") && !init(0) &&
            !deviceGet(&device, 0) && !retain(&context, device) &&
            !setCurrent(context);
  }
};
} // namespace test
