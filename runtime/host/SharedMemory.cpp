// SPDX-License-Identifier: Apache-2.0
// Shared memory of a cluster: bounds, proxies, cp.async and mbarriers; and the
// bounds of global memory.
#include "runtime/host/State.h"
#include <algorithm>

namespace dlc::host {
void badBlock(uint32_t a) {
  fail("shared address %#x names block %u of a cluster of %zu", a, a >> 24,
       worker->blocks.size());
}
void badShared(uint32_t a, uint32_t bytes) {
  fail("%u bytes at shared address %#x: the block has %u", bytes, a & 0xFFFFFF,
       blockAt(a).view.smemBytes);
}
uint8_t *remote(uint32_t a) { return sharedAt(a, 0); }
void noteWrite(uint32_t a) {
  sharedAt(a, 1);
  blockAt(a).writes[(a & 0xFFFFFF) / 16] =
      (uint64_t(blockAt(a).fences[me()->id]) << 32 | me()->id) + 1;
}
void noteAsyncWrite(uint32_t a) {
  sharedAt(a, 1);
  blockAt(a).writes[(a & 0xFFFFFF) / 16] = 0;
}
void proxyFence() { me()->block->fences[me()->id]++; }
void checkProxy(Block &b, uint32_t offset) {
  const uint64_t w = b.writes[offset / 16] - 1;
  if (w + 1 && b.fences[uint32_t(w)] == w >> 32)
    fail("an asynchronous read of shared address %#x misses thread %u's store: "
         "no fence.proxy.async in between",
         offset, uint32_t(w));
}

void checkGlobal(const void *p, uint64_t bytes, bool write) {
  const auto &all = *worker->buffers;
  if (all.empty())
    return;
  const auto a = reinterpret_cast<uintptr_t>(p);
  const Buffer *b = &all[worker->lastBuffer];
  if (!(b->begin <= a && a < b->end)) { // sorted by begin
    auto it = std::upper_bound(
        all.begin(), all.end(), a,
        [](uintptr_t x, const Buffer &y) { return x < y.begin; });
    if (it == all.begin())
      fail("%s of %llu bytes at %p, %llu bytes before the first buffer",
           write ? "store" : "load", (unsigned long long)bytes, p,
           (unsigned long long)(all[0].begin - a));
    b = &*--it;
    worker->lastBuffer = size_t(b - all.data());
  }
  if (a + bytes > b->end)
    fail("%s of %llu bytes %llu bytes past the begin of a buffer of %llu",
         write ? "store" : "load", (unsigned long long)bytes,
         (unsigned long long)(a - b->begin),
         (unsigned long long)(b->end - b->begin));
  if (write && !b->writable)
    fail("store of %llu bytes into a buffer that may only be read",
         (unsigned long long)bytes);
}

static void land(const Copy &c) {
  uint8_t *d = sharedAt(c.dst, uint32_t(c.bytes));
  if (c.srcBytes)
    memcpy(d, c.src, size_t(c.srcBytes));
  memset(d + c.srcBytes, 0, size_t(c.bytes - c.srcBytes));
  noteWrite(c.dst); // cp.async belongs to the generic proxy
}
void cpAsync(uint32_t dst, const void *src, int bytes, int srcBytes) {
  if (srcBytes)
    checkGlobal(src, uint64_t(srcBytes), false);
  if (srcBytes && reinterpret_cast<uintptr_t>(src) % unsigned(bytes))
    fail("cp.async of %d bytes from %p, which is not aligned to it", bytes,
         src);
  if (dst % unsigned(bytes))
    fail("cp.async of %d bytes to shared address %#x, which is not aligned",
         bytes, dst & 0xFFFFFF);
  const Copy c{dst, src, bytes, srcBytes};
  if (worker->random() % 2)
    land(c);
  else
    me()->block->copies[me()->id].open.push_back(c);
}
void cpCommit() {
  CopyQueue &q = me()->block->copies[me()->id];
  q.groups.push_back(std::move(q.open));
  q.open.clear();
}
void cpWait(int pending) {
  auto &g = me()->block->copies[me()->id].groups;
  const size_t n = g.size() > size_t(pending) ? g.size() - size_t(pending) : 0;
  for (size_t i = 0; i < n; i++)
    for (const Copy &c : g[i])
      land(c);
  g.erase(g.begin(), g.begin() + ptrdiff_t(n));
  maybeYield();
}

// Lies in shared memory itself.
struct Mbar {
  int32_t tx : 31;
  uint32_t phase : 1;
  uint16_t count;
  int16_t pending;
};
static Mbar &mbar(uint32_t a) {
  return *reinterpret_cast<Mbar *>(sharedAt(a, 8));
}
static void update(uint32_t a) {
  Mbar &m = mbar(a);
  if (m.pending || m.tx)
    return;
  m.phase ^= 1;
  m.pending = int16_t(m.count);
  auto &w = blockAt(a).waiters;
  for (size_t i = 0; i < w.size();)
    if (w[i].address == a) {
      wake(w[i].fiber);
      w[i] = w.back();
      w.pop_back();
    } else
      i++;
}
void mbarInit(uint32_t a, uint32_t count) {
  mbar(a) = Mbar{0, 0, uint16_t(count), int16_t(count)};
}
void mbarArrive(uint32_t a, int arrivals, int tx) {
  Mbar &m = mbar(a);
  m.tx += tx;
  m.pending = int16_t(m.pending - arrivals);
  if (m.pending < 0)
    fail("mbarrier at %#x: more arrivals than its count of %d", a, m.count);
  update(a);
  maybeYield();
}
void mbarComplete(uint32_t a, int bytes) {
  mbar(a).tx -= bytes;
  update(a);
}
void mbarWait(uint32_t a, uint32_t parity) {
  while (mbar(a).phase == parity) {
    me()->block->waiters.push_back({a, me()});
    park();
  }
  maybeYield();
}
void later(std::function<void()> f) {
  if (!worker->adversarial)
    return f();
  (worker->random() % 2 ? worker->async : worker->lazy).push_back(std::move(f));
  maybeYield();
}
} // namespace dlc::host
