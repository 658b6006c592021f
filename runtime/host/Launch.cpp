// SPDX-License-Identifier: Apache-2.0
// Launching: the pool of OS threads, clusters handed out to them, the table
// that kernels are given.
#include "runtime/host/Engine.h"
#include "runtime/host/State.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace dlc::host {
static constexpr uint32_t canaryBytes = 512;
static constexpr uint8_t canary = 0xA5;

static void startBlock(Block &b, const dlc_host_launch_config &l,
                       uint64_t index, uint32_t rank) {
  const Dim3 block{l.block[0], l.block[1], l.block[2]};
  const uint32_t n = block.x * block.y * block.z;
  const bool check = l.seed != 0;
  b.view = {nullptr,
            l.smem_bytes,
            rank,
            std::max(l.cluster, 1u),
            n,
            {uint32_t(index % l.grid[0]),
             uint32_t(index / l.grid[0] % l.grid[1]),
             uint32_t(index / l.grid[0] / l.grid[1])},
            block,
            {l.grid[0], l.grid[1], l.grid[2]},
            check};
  const size_t bytes = l.smem_bytes + 1024 + canaryBytes;
  if (b.storage.size() < bytes)
    b.storage.resize(bytes);
  b.view.smem = reinterpret_cast<uint8_t *>(
      (reinterpret_cast<uintptr_t>(b.storage.data()) + 1023) &
      ~uintptr_t(1023));
  if (check) { // NaN in every type; and a fence behind it
    memset(b.view.smem, 0xFF, l.smem_bytes);
    memset(b.view.smem + l.smem_bytes, canary, canaryBytes);
  }
  if (b.fibers.size() != n) {
    b.fibers.clear();
    b.fibers.resize(n);
    b.warps.clear();
    b.warps.resize((n + 31) / 32);
  }
  for (uint32_t i = 0; i < n; i++) {
    Fiber &f = b.fibers[i];
    f.threadIdx = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    f.id = i;
    f.lane = i % 32;
    f.check = check;
    f.block = &b;
    f.warp = &b.warps[i / 32];
    f.sp = nullptr;
    f.wgOps = f.wgGroups = f.clusterPhase = 0;
  }
  b.copies.clear();
  if (check) {
    b.copies.resize(n);
    b.fences.assign(n, 0);
    b.writes.assign(l.smem_bytes / 16 + 1, 0);
  }
  b.readyWarps = 0;
  for (uint32_t w = 0; w < b.warps.size(); w++) {
    const uint32_t lanes = std::min(32u, n - w * 32);
    Warp &x = b.warps[w];
    x.lanes = &b.fibers[w * 32];
    x.block = &b;
    x.index = int(w);
    x.arrived = 0;
    x.priority = check ? int64_t(worker->random() % 1024) : 0;
    x.ready = x.alive = lanes == 32 ? ~0u : (1u << lanes) - 1;
    b.readyWarps |= 1ull << w;
  }
  for (Barrier &r : b.barriers) {
    r.arrived = 0;
    r.waiting.clear();
  }
  b.waiters.clear();
  b.groups.resize((n + 127) / 128);
  for (Warpgroup &g : b.groups) {
    g.ops.clear();
    g.groupEnd.clear();
    g.finished = 0;
    g.arrived = 0;
    g.waiting.clear();
  }
  b.alive = int(n);
  worker->alive += int(n);
}

// What a cluster must not leave behind; empty when all is well.
static std::string leftovers(Worker &w) {
  if (const size_t n = w.async.size() + w.lazy.size())
    return "a block ended with " + std::to_string(n) + " copies in flight";
  for (Block &b : w.blocks) {
    for (Warpgroup &g : b.groups)
      if (g.finished != g.ops.size())
        return "a block ended with " +
               std::to_string(g.ops.size() - g.finished) +
               " wgmmas not waited for";
    if (w.adversarial)
      for (uint32_t i = 0; i < canaryBytes; i++)
        if (b.view.smem[b.view.smemBytes + i] != canary)
          return "a block wrote past the " + std::to_string(b.view.smemBytes) +
                 " bytes of its shared memory";
  }
  return {};
}

namespace {
/// Worker threads live as long as the process: the library is never unloaded.
class Pool {
public:
  std::string launch(dlc_host_entry entry, const void *params,
                     const dlc_host_launch_config &l) {
    std::lock_guard turn(turnMutex);
    buffers.clear();
    for (uint32_t i = 0; i < l.buffer_count; i++) {
      const auto begin = reinterpret_cast<uintptr_t>(l.buffers[i].base);
      buffers.push_back(
          {begin, begin + l.buffers[i].bytes, l.buffers[i].writable != 0});
    }
    mergeBuffers();
    config = &l;
    clusters =
        uint64_t(l.grid[0]) * l.grid[1] * l.grid[2] / std::max(l.cluster, 1u);
    counter = 0;
    stop = false;
    error.clear();
    const uint64_t wanted =
        l.workers ? l.workers
                  : std::max(1u, std::thread::hardware_concurrency());
    const auto n = size_t(std::min(wanted, clusters));
    while (workers.size() < n)
      workers.push_back(std::make_unique<Worker>());
    for (size_t i = 0; i < n; i++) {
      workers[i]->entry = entry;
      workers[i]->params = params;
      workers[i]->adversarial = l.seed != 0;
      workers[i]->buffers = &buffers;
      workers[i]->lastBuffer = 0;
    }
    {
      std::lock_guard lock(mutex);
      while (threads + 1 < n)
        std::thread([this, i = ++threads] { serve(i); }).detach();
      active = n;
      running = n - 1;
      generation++;
    }
    if (n > 1)
      wakeUp.notify_all();
    run(*workers[0]);
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return running == 0; });
    return error;
  }

private:
  void serve(size_t index) {
    uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        wakeUp.wait(lock, [&] { return generation != seen && index < active; });
        seen = generation;
      }
      run(*workers[index]);
      std::lock_guard lock(mutex);
      if (--running == 0)
        done.notify_all();
    }
  }
  void run(Worker &w) {
    worker = &w;
    const dlc_host_launch_config &l = *config;
    const uint32_t size = std::max(l.cluster, 1u);
    if (w.blocks.size() != size) {
      w.blocks.clear();
      w.blocks.resize(size);
    }
    // Odd seeds start clusters from the last one.
    for (uint64_t i; !stop && (i = counter.fetch_add(1)) < clusters;) {
      const uint64_t c = l.seed % 2 ? clusters - 1 - i : i;
      w.rng = (l.seed + 1) * 0x9E3779B97F4A7C15ull + c * 0xD1B54A32D192ED03ull;
      w.rng |= 1;
      w.current = nullptr;
      w.alive = 0;
      w.clusterArrived = 0;
      w.clusterPhase = 1;
      w.clusterWaiting.clear();
      w.lowest = 0;
      w.priorities = w.random() % 2;
      for (uint32_t r = 0; r < size; r++)
        startBlock(w.blocks[r], l, c * size + r, r);
      w.total = w.alive;
      if (reserveStack()) {
        Fiber *f = next();
        prepare(f);
        self = f;
        switchTo(&w.mainSp, f->sp);
        self = nullptr;
        if (!w.failed)
          w.error = leftovers(w);
      } else
        w.error = "no memory for the stacks of threads";
      if (w.error.empty())
        continue;
      stop = true;
      {
        std::lock_guard lock(mutex);
        if (error.empty())
          error = w.error;
      }
      w.failed = false;
      w.error.clear();
      w.async.clear();
      w.lazy.clear();
      w.freeStacks = w.allStacks; // fibers left where they stood
      w.blocks.clear();
      w.blocks.resize(size);
    }
    worker = nullptr;
  }
  // Sorted; buffers that overlap become one, neighbours stay apart.
  void mergeBuffers() {
    std::sort(buffers.begin(), buffers.end(),
              [](const Buffer &a, const Buffer &b) {
                return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
              });
    size_t n = 0;
    for (const Buffer &b : buffers) {
      if (n && b.begin < buffers[n - 1].end) {
        buffers[n - 1].end = std::max(buffers[n - 1].end, b.end);
        buffers[n - 1].writable |= b.writable;
      } else
        buffers[n++] = b;
    }
    buffers.resize(n);
  }

  std::mutex turnMutex, mutex;
  std::condition_variable wakeUp, done;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Buffer> buffers;
  const dlc_host_launch_config *config = nullptr;
  uint64_t clusters = 0, generation = 0;
  size_t threads = 0, active = 0, running = 0;
  std::atomic<uint64_t> counter{0};
  std::atomic<bool> stop{false};
  std::string error;
};
} // namespace

static const MatrixOps &matrixOps() {
#ifdef __x86_64__
  static const MatrixOps *ops = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
      return &matrixV4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return &matrixV3;
    return &matrixBaseline;
  }();
  return *ops;
#else
  return matrixBaseline;
#endif
}
static intptr_t selfOffset() {
  const char *p;
#if defined(__x86_64__)
  asm("movq %%fs:0, %0" : "=r"(p));
#else
  asm("mrs %0, tpidr_el0" : "=r"(p));
#endif
  return reinterpret_cast<const char *>(&self) - p;
}
static const Engine &table() {
  static const Engine engine = [] {
    const MatrixOps &m = matrixOps();
    return Engine{kAbiVersion,    selfOffset(), fail,       badShared,
                  checkGlobal,    remote,       noteWrite,  proxyFence,
                  warpCollective, barSync,      barArrive,  clusterArrive,
                  clusterWait,    yield,        cpAsync,    cpCommit,
                  cpWait,         m.ldmatrix,   m.stmatrix, m.mma,
                  m.warpTile,     mbarInit,     mbarArrive, mbarWait,
                  tmaLoad,        tmaStore,     bulkLoad,   stAsync,
                  m.wgmma,        m.wgCommit,   m.wgWait};
  }();
  return engine;
}
} // namespace dlc::host

const struct dlc_host_engine_table *dlc_host_engine(void) {
  return reinterpret_cast<const dlc_host_engine_table *>(&dlc::host::table());
}

static std::string refuse(const dlc_host_launch_config *l) {
  if (!l || l->struct_bytes != sizeof(dlc_host_launch_config))
    return "the launch was described by another version of this library";
  const uint64_t threads = uint64_t(l->block[0]) * l->block[1] * l->block[2];
  if (!threads || threads > 1024)
    return "a block has 1 to 1,024 threads, found " + std::to_string(threads);
  if (l->cluster > 16 || (l->cluster > 1 && l->grid[0] % l->cluster))
    return "a cluster has at most 16 blocks and divides the grid, found " +
           std::to_string(l->cluster) + " of " + std::to_string(l->grid[0]);
  if (l->smem_bytes > 232448)
    return "a block has at most 232,448 bytes of shared memory, found " +
           std::to_string(l->smem_bytes);
  return {};
}

int dlc_host_launch(dlc_host_entry entry, const void *params,
                    const dlc_host_launch_config *config, char *error,
                    size_t errorBytes) {
  std::string text = refuse(config);
  if (text.empty() && config->grid[0] && config->grid[1] && config->grid[2]) {
    static auto *pool = new dlc::host::Pool; // never destroyed
    text = pool->launch(entry, params, *config);
  }
  if (text.empty())
    return 0;
  if (error && errorBytes)
    snprintf(error, errorBytes, "%s", text.c_str());
  return 1;
}
