// SPDX-License-Identifier: Apache-2.0
// What the engine's own files share: fibers, warps, blocks, workers. Kernels
// never see it (abi.h is their side).
//
// A thread is started as a plain call and becomes a fiber only when it has to
// wait, so a kernel that never synchronises is a loop over threadIdx.
// Collectives are rendezvous: each lane leaves a pointer to its arguments, the
// last to arrive does the work of all. One OS thread runs one cluster at a
// time. In adversarial mode warps and lanes are picked at random, copies land
// at a random later time but before the wait that covers them, and wgmma reads
// its operands either at once or as late as the wait.
#pragma once
#include "runtime/host/abi.h"
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dlc::host {
struct Copy {
  uint32_t dst;
  const void *src;
  int bytes, srcBytes;
};
// One cache line and a half: a switch touches little else.
struct alignas(64) Fiber : Thread {
  void *sp; // saved stack pointer; null while the thread has not been started
  uint8_t *stack;
  uint32_t wgOps, wgGroups; // wgmma issued and committed by this thread
};
// cp.async of one thread.
struct CopyQueue {
  std::vector<Copy> open;
  std::vector<std::vector<Copy>> groups;
};
struct Warp {
  Fiber *lanes;
  uint32_t ready = 0, alive = 0, arrived = 0, mask = 0;
  void *args[32];
  Block *block;
  int index;
  int64_t priority = 0;
};
struct Barrier {
  int arrived = 0;
  std::vector<Fiber *> waiting;
};
struct WgOp {
  uint64_t da, db;
  void *d[128];
  uint32_t a[128][4];
  Kind kind;
  int n, seen;
  bool regs, transA, transB, accumulate;
};
struct Warpgroup {
  std::vector<std::unique_ptr<WgOp>> ops; // in order; finished ones are null
  std::vector<std::unique_ptr<WgOp>> spare;
  std::vector<size_t> groupEnd;
  size_t finished = 0;
  int arrived = 0;
  std::vector<Fiber *> waiting;
};
struct Waiter {
  uint32_t address;
  Fiber *fiber;
};
struct Block {
  BlockView view;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  std::vector<CopyQueue> copies; // adversarial mode only, as are the next two
  std::vector<uint32_t> fences;  // per thread: fence.proxy.async so far
  // Per 16 bytes of shared memory the last writer and its fences then.
  std::vector<uint64_t> writes;
  uint64_t readyWarps = 0;
  int alive = 0;
  Barrier barriers[16];
  std::vector<Waiter> waiters;
  std::vector<Warpgroup> groups;
  std::vector<uint8_t> storage; // shared memory from a 1,024 boundary on
};
struct Buffer {
  uintptr_t begin, end;
  bool writable;
};
struct Worker {
  std::vector<Block> blocks; // of one cluster
  void (*entry)(const void *);
  const void *params;
  void *mainSp = nullptr;
  Warp *current = nullptr;
  int total = 0, alive = 0, clusterArrived = 0;
  uint32_t clusterPhase = 0;
  std::vector<Fiber *> clusterWaiting;
  // Copies in flight, adversarial mode only; lazy ones land when all wait.
  std::vector<std::function<void()>> async, lazy;
  std::vector<uint8_t *> freeStacks, allStacks;
  const std::vector<Buffer> *buffers = nullptr;
  size_t lastBuffer = 0;
  // Half of the clusters: warps by random priority, so that some run ahead.
  bool adversarial = false, priorities = false;
  bool failed = false;
  std::string error;
  int64_t lowest = 0;
  uint64_t rng = 0;
  uint64_t random() {
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return rng >> 11;
  }
};

// Pointers only: a library that is opened late may use few bytes of static
// thread-local storage. initial-exec makes their offsets constants.
extern constinit thread_local Thread *self
    __attribute__((tls_model("initial-exec")));
extern constinit thread_local Worker *worker
    __attribute__((tls_model("initial-exec")));
inline Fiber *me() { return static_cast<Fiber *>(self); }
inline BlockView &view() { return self->block->view; }

/// Ends the launch with a sentence: leaves the running fiber for good.
[[noreturn]] void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

// Scheduler.cpp
void wake(Fiber *f); ///< makes a parked thread ready
void park();         ///< gives way until another thread wakes this one
void yield();
Fiber *next();       ///< the next thread to run; null when all have finished
bool reserveStack(); ///< makes sure that one is free; false: no memory
void prepare(Fiber *f);
void switchTo(void **save, void *load); ///< of the machine's stack
inline void maybeYield() {
  if (worker->adversarial && worker->random() % 4 == 0) {
    wake(me());
    park();
  }
}

// Barriers.cpp
void warpCollective(uint32_t mask, WarpOp op, void *args);
void barSync(int id, int threads);
void barArrive(int id, int threads);
void clusterArrive();
void clusterWait();
void releaseBarrier(Barrier &b);
void countClusterArrival();

// SharedMemory.cpp
[[noreturn]] void badBlock(uint32_t address);
[[noreturn]] void badShared(uint32_t address, uint32_t bytes);
/// The block of the cluster that an address names.
inline Block &blockAt(uint32_t address) {
  if (address >> 24 >= worker->blocks.size())
    badBlock(address);
  return worker->blocks[address >> 24];
}
/// Shared memory of any block of the cluster; all of the engine goes through
/// here.
inline uint8_t *sharedAt(uint32_t address, uint32_t bytes) {
  const BlockView &v = blockAt(address).view;
  if (uint64_t(address & 0xFFFFFF) + bytes > v.smemBytes)
    badShared(address, bytes);
  return v.smem + (address & 0xFFFFFF);
}
/// The same for kernels, which have looked at the bounds.
uint8_t *remote(uint32_t address);
/// An ordinary store to the 16 bytes around the address, in adversarial mode.
void noteWrite(uint32_t address);
/// One by a copy, which needs no fence.
void noteAsyncWrite(uint32_t address);
void proxyFence();
/// An asynchronous read: fails when the last ordinary store there was not
/// followed by its writer's fence.proxy.async.
void checkProxy(Block &b, uint32_t offset);
void checkGlobal(const void *p, uint64_t bytes, bool write);
void cpAsync(uint32_t dst, const void *src, int bytes, int srcBytes);
void cpCommit();
void cpWait(int pending);
void mbarInit(uint32_t bar, uint32_t count);
void mbarArrive(uint32_t bar, int arrivals, int tx);
void mbarWait(uint32_t bar, uint32_t parity);
void mbarComplete(uint32_t bar, int bytes);
/// Runs a copy now, or in adversarial mode some time later.
void later(std::function<void()> copy);

// TensorMemory.cpp
void tmaLoad(uint32_t dst, const TensorMap *m, uint32_t bar, const int (&c)[5],
             int ow, int oh, uint32_t ctas);
void tmaStore(const TensorMap *m, uint32_t src, const int (&c)[5]);
void bulkLoad(uint32_t dst, const void *src, uint32_t bytes, uint32_t bar);
void stAsync(uint32_t address, uint32_t bar, const void *v, int bytes);
inline uint32_t swizzle(uint32_t a, int bytes) { // bytes: 0 (none), 32, 64, 128
  return bytes ? a ^ ((a >> 7 & (bytes / 16 - 1)) << 4) : a;
}

// Matrix.cpp, compiled for several instruction sets.
struct MatrixOps {
  WarpOp ldmatrix, stmatrix;
  void (*mma)(Kind, int, int, void *, const uint32_t *, const uint32_t *);
  void (*warpTile)(const WarpTile &);
  void (*wgmma)(Kind, int, void *, uint64_t, const uint32_t *, uint64_t, bool,
                bool, bool);
  void (*wgCommit)();
  void (*wgWait)(int);
};
extern const MatrixOps matrixBaseline;
#ifdef __x86_64__
extern const MatrixOps matrixV3, matrixV4;
#endif
} // namespace dlc::host
