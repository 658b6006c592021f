// SPDX-License-Identifier: Apache-2.0
// Fibers: stacks, the switch, who runs next, and leaving a launch that failed.
#include "runtime/host/State.h"
#include <cstdarg>
#include <cstdio>
#include <sys/mman.h>

extern "C" void dlcHostSwitch(void **save, void *load);
#if defined(__x86_64__)
asm(R"(.text
.globl dlcHostSwitch
.hidden dlcHostSwitch
.type dlcHostSwitch,@function
dlcHostSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size dlcHostSwitch,.-dlcHostSwitch
)");
// Words that prepare() leaves below the entry for the switch to pop, and
// words above it (a return address: alignment as after a call).
static constexpr int savedWords = 6, padWords = 1;
#elif defined(__aarch64__)
asm(R"(.text
.globl dlcHostSwitch
.hidden dlcHostSwitch
.type dlcHostSwitch,%function
dlcHostSwitch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size dlcHostSwitch,.-dlcHostSwitch
)");
#else
#error "the host target knows x86-64 and aarch64"
#endif

namespace dlc::host {
constinit thread_local Thread *self __attribute__((tls_model("initial-exec"))) =
    nullptr;
constinit thread_local Worker *worker
    __attribute__((tls_model("initial-exec"))) = nullptr;

void switchTo(void **save, void *load) { dlcHostSwitch(save, load); }

void fail(const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  worker->error = text;
  if (self) {
    const Dim3 b = view().blockIdx, t = self->threadIdx;
    snprintf(text, sizeof text, " (block %u,%u,%u thread %u,%u,%u)", b.x, b.y,
             b.z, t.x, t.y, t.z);
    worker->error += text;
  }
  worker->failed = true;
  // Every fiber of the cluster is left where it stands. Kernels own nothing,
  // so only what the engine's own frames hold is lost: a copy in flight.
  void *dummy;
  switchTo(&dummy, worker->mainSp);
  __builtin_unreachable();
}

// One stack per waiting thread, a guard page below each. The tops are
// staggered over the cache's sets (prepare).
static constexpr size_t stackBytes = 128 * 1024, slabStacks = 64;
bool reserveStack() {
  Worker &w = *worker;
  if (!w.freeStacks.empty())
    return true;
  void *p = mmap(nullptr, slabStacks * stackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return false;
  for (size_t i = slabStacks; i--;) {
    auto *s = static_cast<uint8_t *>(p) + i * stackBytes;
    mprotect(s, 4096, PROT_NONE);
    w.freeStacks.push_back(s);
    w.allStacks.push_back(s);
  }
  return true;
}
static uint8_t *takeStack() {
  if (!reserveStack())
    fail("no memory for the stacks of threads");
  uint8_t *s = worker->freeStacks.back();
  worker->freeStacks.pop_back();
  return s;
}

void wake(Fiber *f) {
  f->warp->ready |= 1u << f->lane;
  f->block->readyWarps |= 1ull << f->warp->index;
}
static Fiber *pick(Warp *w) {
  uint32_t r = w->ready;
  if (worker->adversarial)
    for (int skip = int(worker->random() % __builtin_popcount(r)); skip; skip--)
      r &= r - 1;
  const int lane = __builtin_ctz(r);
  if (!(w->ready &= ~(1u << lane)))
    w->block->readyWarps &= ~(1ull << w->index);
  worker->current = w;
  return &w->lanes[lane];
}
static void runCopy(std::vector<std::function<void()>> &queue) {
  const size_t i = worker->random() % queue.size();
  auto f = std::move(queue[i]);
  queue[i] = std::move(queue.back());
  queue.pop_back();
  f();
}
[[noreturn]] static void deadlock() {
  std::string text = "deadlock:";
  for (Block &b : worker->blocks) {
    if (!b.alive)
      continue;
    const Dim3 i = b.view.blockIdx;
    text += " block " + std::to_string(i.x) + "," + std::to_string(i.y) + "," +
            std::to_string(i.z) + ": " + std::to_string(b.alive) +
            " threads wait for ever";
    for (int k = 0; k < 16; k++)
      if (b.barriers[k].arrived)
        text += "; barrier " + std::to_string(k) + " has " +
                std::to_string(b.barriers[k].arrived) + " arrivals";
    if (!b.waiters.empty())
      text += "; " + std::to_string(b.waiters.size()) +
              " at mbarriers, the first at shared address " +
              std::to_string(b.waiters[0].address);
    for (Warp &w : b.warps)
      if (w.arrived) {
        text += "; warp " + std::to_string(w.index) + ": " +
                std::to_string(__builtin_popcount(w.arrived)) + " of " +
                std::to_string(__builtin_popcount(w.mask)) +
                " lanes at a collective";
        break;
      }
    break;
  }
  self = nullptr;
  fail("%s", text.c_str());
}
Fiber *next() {
  Worker &w = *worker;
  for (;;) {
    if (!w.adversarial) {
      if (w.current && w.current->ready)
        return pick(w.current);
      for (Block &b : w.blocks)
        if (b.readyWarps)
          return pick(&b.warps[__builtin_ctzll(b.readyWarps)]);
    } else {
      if (!w.async.empty() && w.random() % 8 == 0)
        runCopy(w.async);
      Warp *chosen = nullptr;
      int seen = 0;
      for (Block &b : w.blocks)
        for (uint64_t r = b.readyWarps; r; r &= r - 1) {
          Warp *x = &b.warps[__builtin_ctzll(r)];
          if (w.priorities ? !chosen || x->priority > chosen->priority
                           : w.random() % ++seen == 0)
            chosen = x;
        }
      if (chosen && w.random() % 1024 == 0)
        chosen->priority = --w.lowest;
      if (chosen)
        return pick(chosen);
    }
    if (!w.async.empty())
      runCopy(w.async);
    else if (!w.lazy.empty())
      runCopy(w.lazy);
    else if (w.alive == 0)
      return nullptr;
    else
      deadlock();
  }
}

[[noreturn]] static void threadMain() {
  void *dummy;
  for (;;) {
    worker->entry(worker->params);
    Fiber *t = me();
    t->warp->alive &= ~(1u << t->lane);
    Block &b = *t->block;
    b.alive--;
    worker->alive--;
    // A block that has left has no shared memory any more.
    if (!b.alive && worker->adversarial)
      memset(b.view.smem, 0xFF, b.view.smemBytes);
    if (b.alive && b.barriers[0].arrived == b.alive)
      releaseBarrier(b.barriers[0]);
    if (t->clusterPhase != worker->clusterPhase)
      countClusterArrival();
    Fiber *n = next();
    if (n && !n->sp) { // not started yet: inherits this stack by a plain call
      n->stack = t->stack;
      self = n;
      continue;
    }
    worker->freeStacks.push_back(t->stack);
    self = n;
    switchTo(&dummy, n ? n->sp : worker->mainSp);
  }
}
void prepare(Fiber *f) {
  f->stack = takeStack();
  auto top =
      reinterpret_cast<uintptr_t>(f->stack + stackBytes) - (f->id * 704 & 4032);
#if defined(__x86_64__)
  auto **s = reinterpret_cast<void **>(top & ~uintptr_t(15));
  s -= padWords;
  *s = nullptr;
  *--s = reinterpret_cast<void *>(&threadMain);
  s -= savedWords;
#else
  auto **s = reinterpret_cast<void **>((top & ~uintptr_t(15)) - 160);
  memset(s, 0, 160);
  s[11] = reinterpret_cast<void *>(&threadMain);
#endif
  f->sp = s;
}
void park() {
  Fiber *t = me(), *n = next();
  if (n == t)
    return;
  self = n;
  if (!n->sp)
    prepare(n);
  switchTo(&t->sp, n->sp);
}
void yield() {
  me()->warp->priority = --worker->lowest;
  wake(me());
  park();
}
} // namespace dlc::host
